"""The signal that asks a process to end."""

import os
import signal
import threading

import pytest

from conjoin.cli.stops import INTERRUPTED, TERMINATED, Stops


def test_termination_becomes_an_interruption_with_its_own_code():
    before = signal.getsignal(signal.SIGTERM)
    stops = Stops()
    with pytest.raises(KeyboardInterrupt), stops.listening():
        os.kill(os.getpid(), signal.SIGTERM)
        threading.Event().wait(5)
    assert (stops.code, stops.sentence) == (TERMINATED, "Terminated.")
    assert signal.getsignal(signal.SIGTERM) is before


def test_another_thread_cannot_listen():
    stops, done = Stops(), []

    def work():
        with stops.listening():
            done.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [True]
    assert stops.code == INTERRUPTED
