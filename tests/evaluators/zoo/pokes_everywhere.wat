;; overwrites all of its memory, what the host writes and reads included
(module
  (global (export "evalspan_heap") i32 (i32.const 16))
  (memory (export "memory") 1 2)
  (global (export "evalspan_request") i32 (i32.const 1024))
  (func (export "evalspan_evaluate") (param i32) (result i64)
    (memory.fill (i32.const 0) (i32.const 255) (i32.const 65536))
    (i32.store16 (i32.const 2048) (i32.const 0x6b00))
    (i64.const 0x200000800)))
