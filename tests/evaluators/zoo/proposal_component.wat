;; is a component
(component)
