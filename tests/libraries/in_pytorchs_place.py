"""A plugin of pytest (`-p tests.libraries.in_pytorchs_place`): the tests' `import torch` gives clarion."""

from clarion.torch_alias import install

install()
