;; a piece of 33 bytes
(module
  (data (i32.const 2048) "\02\01\00\00\00\00\21no")
  (memory (export "memory") 1 2)
  (global (export "evalspan_request") i32 (i32.const 1024))
  (func (export "evalspan_evaluate") (param i32) (result i64)
    (i64.const 0x900000800)))
