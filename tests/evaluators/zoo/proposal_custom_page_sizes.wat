;; has pages of one byte
(module
  (memory (export "memory") 4096 (pagesize 1))
  (global (export "evalspan_request") i32 (i32.const 1024))
  (func (export "evalspan_evaluate") (param i32) (result i64)
    (i64.const 0x200000800)))
