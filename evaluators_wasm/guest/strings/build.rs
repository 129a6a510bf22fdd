//! The shape of the module's memory.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("wasm32") {
        // Parsing and evaluation use stacks on the heap, and nothing recurses: 8 KiB are ample.
        println!("cargo:rustc-cdylib-link-arg=-zstack-size=8192");
        // Stack, tables and request buffer take a little over one page; the rest of the second is heap enough for
        // usual inputs, and an instance whose memory grew is not used again.
        println!("cargo:rustc-cdylib-link-arg=--initial-memory=131072");
        // At the ceilings of the limits, 64 nested calls may hold two texts of 16 KiB each.
        println!("cargo:rustc-cdylib-link-arg=--max-memory=4194304");
    }
}
