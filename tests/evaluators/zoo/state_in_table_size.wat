;; counts its evaluations in the size of a table
(module
  (table 1 funcref)
  (data (i32.const 2048) "\00k")
  (memory (export "memory") 1 2)
  (global (export "evalspan_request") i32 (i32.const 1024))
  (func (export "evalspan_evaluate") (param i32) (result i64)
    (drop (table.grow 0 (ref.null func) (i32.const 1)))
    (i32.store8 (i32.const 2049) (i32.add (i32.const 0x30) (table.size 0)))
    (i64.const 0x200000800)))
