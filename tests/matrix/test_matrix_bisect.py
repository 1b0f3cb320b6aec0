"""The search finds the first release that differs, and steps over what can't be tried."""

import pytest

from compat_opt.errors import CommandError
from compat_opt.testing.matrix import bisect, releases
from compat_opt.testing.matrix.subjects import Subject
from matrix_fakes import FakeMatrix, passed


@pytest.mark.parametrize("size", [2, 3, 10, 33])
def test_search_finds_every_change_with_few_questions(size):
    for first_bad in range(1, size):
        asked = []

        def like_good(index):
            asked.append(index)
            return index < first_bad

        assert bisect.search(list(range(size)), like_good) == (first_bad - 1, first_bad)
        assert len(asked) == len(set(asked)) <= 2 + size.bit_length()


def test_search_steps_over_what_cannot_be_tried():
    answers = [True, True, None, None, False, False]
    assert bisect.search(answers, lambda i: answers[i]) == (1, 4)


@pytest.mark.parametrize("answers, which", [([None, False], "good"), ([True, None], "bad"), ([True, True], "same")])
def test_ends_that_cannot_be_used(answers, which):
    with pytest.raises(bisect.Unusable, match=which):
        bisect.search(answers, lambda i: answers[i])


def test_candidates_have_patch_releases_and_go_both_ways():
    found = [release.tensorflow for release in bisect.candidates("2.9.1", "2.10")]
    assert found == ["2.9.1", "2.9.2", "2.9.3", "2.10.0", "2.10.1"]
    assert [release.tensorflow for release in bisect.candidates("2.10", "2.9.1")] == found[::-1]
    for good, bad in (("2.9", "2.9"), ("keras3-jax", "2.9"), ("here", "2.9")):
        with pytest.raises(CommandError):
            bisect.candidates(good, bad)


def searched(fake, subject, good, bad, **more):
    make = lambda cells: fake.matrix(subject, cells, laws=[], time=False)  # noqa: E731
    return bisect.Bisection(make, subject, **more).find(good, bad)


def test_a_change_of_numbers_is_found_to_the_patch_release(monkeypatch):
    changed = [r.name for r in releases.numbered() if releases.version_key(r.tensorflow) >= (2, 9, 2)]
    fake = FakeMatrix(monkeypatch, shifts={name: 0.5 for name in changed}, missing=["2.7.2"])
    found = searched(fake, Subject("tf.keras.optimizers:Nadam"), "2.6", "2.11", target="optimizer_v2")
    assert found.first.cell.release.tensorflow == "2.9.2" and found.last.cell.release.tensorflow == "2.9.1"
    assert found.run == "dense" and found.difference.step == 2
    assert len(fake.ran) == len(set(fake.ran)) <= 8
    lines = bisect.traces_side_by_side(found.last, found.first, found.run, found.difference)
    assert "2.9.1" in lines[0] and "2.9.2" in lines[0] and any("first difference" in line for line in lines)


def test_a_release_without_the_target_is_passed_over(monkeypatch):
    fake = FakeMatrix(monkeypatch)
    with pytest.raises(bisect.Unusable, match="good"):
        searched(fake, Subject("tf.keras.optimizers:AdamW"), "2.8", "2.10", target="keras2")
    assert fake.ran == []


def test_a_law_can_be_searched_for(monkeypatch):
    broken = {"status": "broken", "detail": "step 3"}

    def outcome(processes):
        return passed(laws={"finite": broken}, status="failed")

    fake = FakeMatrix(monkeypatch)
    plain = fake.run_cell

    def run_cell(cell, *rest):
        result, work = plain(cell, *rest)
        bad = releases.version_key(cell.release.tensorflow) >= (2, 4, 2)
        return dict(result, laws={"finite": broken if bad else {"status": "kept", "detail": ""}}), work

    monkeypatch.setattr("compat_opt.testing.matrix.process.run_cell", run_cell)
    make = lambda cells: fake.matrix(Subject("tf.keras.optimizers:Nadam"), cells, laws=["finite"])  # noqa: E731
    found = bisect.Bisection(make, Subject("tf.keras.optimizers:Nadam"), law="finite").find("2.2", "2.6")
    assert found.first.cell.release.tensorflow == "2.4.2"
