;; asks for 4 GiB; the answer is no
(module
  (data (i32.const 2048) "\00k")
  (memory (export "memory") 1)
  (global (export "evalspan_request") i32 (i32.const 1024))
  (func (export "evalspan_evaluate") (param i32) (result i64)
    (i32.store8 (i32.const 2049) (select (i32.const 0x6e) (i32.const 0x79) (i32.eq (memory.grow (i32.const 65535)) (i32.const -1))))
    (i64.const 0x200000800)))
