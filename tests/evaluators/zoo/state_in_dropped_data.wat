;; drops a data segment, which it needs each time
(module
  (data $d "k")
  (data (i32.const 2048) "\00k")
  (memory (export "memory") 1 2)
  (global (export "evalspan_request") i32 (i32.const 1024))
  (func (export "evalspan_evaluate") (param i32) (result i64)
    (memory.init $d (i32.const 2049) (i32.const 0) (i32.const 1))
    (data.drop $d)
    (i64.const 0x200000800)))
