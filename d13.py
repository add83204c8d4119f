from harness import *
import a8
def go(f, mk):
    a8.reset(); a = mk(); print("NUMPY", f(*a), a8.seen()[0])
    j = decorate(f, jit=False)
    for k in range(2):
        a8.reset(); a = mk(); print("FUSED", j(*a), a8.seen()[0])
    return j
go(a8.two_names, lambda: (X.copy(), a8.Model(12)))
go(a8.dunder, lambda: (X.copy(), a8.Model(12)))
j=go(a8.either, lambda: (X.copy(), 4))
print(j.explain(X,4)[:600])
