"""Functions that are recorded once and replayed: `torch.compile`.

function.py     which version of a compiled function a call takes, and what is said where it runs as it is written
version.py      one version: watched, recorded twice, replayed
source.py       the user's Python that runs meanwhile, and what in it cannot be replayed
watching.py     what the function reads beside its arguments: the conditions of a replay
recording.py arrays.py      the steps that its arrays go through
effects.py leaving.py       what it leaves behind, and how a replay does the same
numbers.py      numbers, lists and texts that it reads for the record
outward.py      do they only leave the function? As the lines around them are written
stand_ins.py    float, int, round and print, which know them
appending.py    lists that it only appends to
gradients.py    the backward pass of what it returns
replay.py native/           the steps as one function: of Python's, or native
explaining.py   which line made a result infinite, or no number
checking.py     replays beside the function itself
pointwise.py    a user's function of numbers as one kernel, with its derivatives
logs.py         what CLARION_LOGS asks for
face.py         what `torch.compile` and `explain` give
"""
