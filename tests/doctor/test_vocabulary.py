"""The table of operations that clarion.doctor reads is the one that clarion declares."""

from tests.doctor.write_vocabulary import TABLE, text


def test_the_table_is_up_to_date():
    assert TABLE.read_text() == text(), "python -m tests.doctor.write_vocabulary"
