//! The exports of a module: one macro, and the function behind `evalspan_evaluate`.

use core::mem::ManuallyDrop;

use crate::{Error, Request, RequestBuffer, Response};

/// What a guest implements: writes the value's text to the response, or answers an error.
pub type Evaluate = fn(&Request<'_>, &mut Response) -> Result<(), Error>;

/// Evaluates the request in `buffer` and returns `length << 32 | address` of the response.
///
/// The response is not freed: it must outlive the call, and the host discards the state after it.
///
/// # Panics
/// Where `length` is more than the buffer holds; the host never asks that.
pub fn run<const OPTIONS: usize, const BYTES: usize>(
    buffer: &RequestBuffer<BYTES>,
    length: u32,
    evaluate: Evaluate,
) -> u64 {
    let (head, input) = buffer.bytes().split_at(4 * OPTIONS);
    let mut options = [0; OPTIONS];
    for (option, word) in options.iter_mut().zip(head.chunks_exact(4)) {
        *option = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
    }
    let request = Request {
        options: &options,
        input: &input[..length as usize],
    };
    let mut response = Response::new();
    let bytes = match evaluate(&request, &mut response) {
        Ok(()) => response.into_bytes(),
        Err(error) => error.encode(),
    };
    let bytes = ManuallyDrop::new(bytes);
    (bytes.len() as u64) << 32 | bytes.as_ptr() as usize as u64
}

/// Makes the crate a module: the manifest section, the request buffer, the heap and `evalspan_evaluate`.
///
/// `manifest` is a constant `&[u8; N]`, usually `include_bytes!`; `evaluate` names an [`Evaluate`] in
/// scope. On any other target than wasm32 it expands to nothing but a check of the types.
#[macro_export]
macro_rules! evaluator {
    (manifest: $manifest:expr, evaluate: $evaluate:ident $(,)?) => {
        const EVALSPAN_MANIFEST: &[u8] = $manifest;
        const _: $crate::Evaluate = $evaluate;
        const _: () = assert!(
            $crate::request_bytes(EVALSPAN_MANIFEST) > 4 * $crate::option_count(EVALSPAN_MANIFEST),
            "request_bytes leaves no room for an input"
        );

        #[cfg(target_arch = "wasm32")]
        mod evalspan_exports {
            const BYTES: usize = $crate::request_bytes(super::EVALSPAN_MANIFEST);
            const OPTIONS: usize = $crate::option_count(super::EVALSPAN_MANIFEST);

            #[link_section = "evalspan"]
            #[used]
            pub static MANIFEST: [u8; super::EVALSPAN_MANIFEST.len()] = *$manifest;

            #[export_name = "evalspan_request"]
            pub static REQUEST: $crate::RequestBuffer<BYTES> = $crate::RequestBuffer::new();

            #[export_name = "evalspan_heap"]
            pub static HEAP_USE: $crate::HeapUse = $crate::HeapUse::new();

            #[global_allocator]
            static HEAP: $crate::Heap = $crate::Heap::new(&HEAP_USE);

            #[export_name = "evalspan_evaluate"]
            pub extern "C" fn evaluate(length: u32) -> u64 {
                $crate::run::<OPTIONS, BYTES>(&REQUEST, length, super::$evaluate)
            }
        }
    };
}
