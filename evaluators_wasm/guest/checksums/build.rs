//! The shape of the module's memory.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("wasm32") {
        // Nothing recurses; the largest frame is SHA-512's, with 80 words of 8 bytes.
        println!("cargo:rustc-cdylib-link-arg=-zstack-size=8192");
        // One fixed page: stack, tables, request buffer and the arguments of the longest input take 62,320 bytes at
        // most, which the vector `iban-digits-largest-input` reaches.
        println!("cargo:rustc-cdylib-link-arg=--initial-memory=65536");
        println!("cargo:rustc-cdylib-link-arg=--max-memory=65536");
    }
}
