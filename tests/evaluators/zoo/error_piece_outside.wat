;; a piece that ends behind the input
(module
  (data (i32.const 2048) "\02\01\02\00\00\00\03no")
  (memory (export "memory") 1 2)
  (global (export "evalspan_request") i32 (i32.const 1024))
  (func (export "evalspan_evaluate") (param i32) (result i64)
    (i64.const 0x900000800)))
