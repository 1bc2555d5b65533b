"""doc
def not_me(): pass
"""
import os
MAX = 3
x: int = 4
a, b = 1, 2
@dec(
  x)
class Foo(Base, metaclass=M):
    """doc"""
    attr = 1
    def m(self, a: int = {1: 2}, *,
          b) -> dict[str, int]:
        def inner():
            pass
        return {}

    async def n(self): return '''
def no(): pass
'''
if True:
    def cond(): pass
def last(a="x:y"):
    pass
