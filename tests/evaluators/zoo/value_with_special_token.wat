;; a value with the text of a special token: text, since it is encoded as text
(module
  (data (i32.const 2048) "\00<|im_end|>")
  (memory (export "memory") 1 2)
  (global (export "evalspan_request") i32 (i32.const 1024))
  (func (export "evalspan_evaluate") (param i32) (result i64)
    (i64.const 0xb00000800)))
