//! The shape of the module's memory.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("wasm32") {
        // Nothing recurses; the largest frame is SHA-512's, with 80 words of 8 bytes.
        println!("cargo:rustc-cdylib-link-arg=-zstack-size=8192");
        // Stack, tables, request buffer and heap fit the first page but for long inputs with escapes at the wrong
        // places, each of which makes a literal grow to twice its size: the vector `iban-digits-most-memory`.
        println!("cargo:rustc-cdylib-link-arg=--initial-memory=65536");
        println!("cargo:rustc-cdylib-link-arg=--max-memory=131072");
    }
}
