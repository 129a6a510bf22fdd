//! The shape of the module's memory.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("wasm32") {
        // Parser and machine keep their stacks on the heap: no input was seen to use more than 1.4 KB of
        // this one.
        println!("cargo:rustc-cdylib-link-arg=-zstack-size=4096");
        println!("cargo:rustc-cdylib-link-arg=--initial-memory=65536");
        println!("cargo:rustc-cdylib-link-arg=--max-memory=1048576");
    }
}
