;; marks a table that it was here
(module
  (table 1 funcref)
  (func $f)
  (elem declare func $f)
  (data (i32.const 2048) "\00k")
  (memory (export "memory") 1 2)
  (global (export "evalspan_request") i32 (i32.const 1024))
  (func (export "evalspan_evaluate") (param i32) (result i64)
    (i32.store8 (i32.const 2049) (i32.add (i32.const 0x30) (ref.is_null (table.get 0 (i32.const 0)))))
    (table.set 0 (i32.const 0) (ref.func $f))
    (i64.const 0x200000800)))
