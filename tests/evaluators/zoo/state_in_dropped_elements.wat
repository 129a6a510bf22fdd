;; drops an element segment, which it needs each time
(module
  (table 1 funcref)
  (func $f)
  (elem $e func $f)
  (data (i32.const 2048) "\00k")
  (memory (export "memory") 1 2)
  (global (export "evalspan_request") i32 (i32.const 1024))
  (func (export "evalspan_evaluate") (param i32) (result i64)
    (table.init 0 $e (i32.const 0) (i32.const 0) (i32.const 1))
    (elem.drop $e)
    (i64.const 0x200000800)))
