//! The shape of the module's memory.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("wasm32") {
        // Parsing and evaluation use stacks on the heap, so that 8 KiB are ample.
        println!("cargo:rustc-cdylib-link-arg=-zstack-size=8192");
        println!("cargo:rustc-cdylib-link-arg=--initial-memory=65536");
        println!("cargo:rustc-cdylib-link-arg=--max-memory=1048576");
    }
}
