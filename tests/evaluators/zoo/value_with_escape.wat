;; a value that moves the cursor of a terminal
(module
  (data (i32.const 2048) "\00\1b[2J")
  (memory (export "memory") 1 2)
  (global (export "evalspan_request") i32 (i32.const 1024))
  (func (export "evalspan_evaluate") (param i32) (result i64)
    (i64.const 0x500000800)))
