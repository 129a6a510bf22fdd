;; a code that only the host may answer, by its place in a list
(module
  (data (i32.const 2048) "\02\0c\00\00\00\00\00no")
  (memory (export "memory") 1 2)
  (global (export "evalspan_request") i32 (i32.const 1024))
  (func (export "evalspan_evaluate") (param i32) (result i64)
    (i64.const 0x900000800)))
