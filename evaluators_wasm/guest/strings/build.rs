//! The shape of the module's memory.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("wasm32") {
        // Parsing and evaluation use stacks on the heap, and sorting recurses to a logarithmic depth: 8 KiB are ample.
        println!("cargo:rustc-cdylib-link-arg=-zstack-size=8192");
        // Tables, request buffer and stack take less than one page; the heap needs its own only for large inputs.
        println!("cargo:rustc-cdylib-link-arg=--initial-memory=131072");
        println!("cargo:rustc-cdylib-link-arg=--max-memory=1048576");
    }
}
