"""The report's data, without a browser: what is read, said and refused."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest
from mfplots import metrics, program
from mfplots.errors import PlotError
from mfplots.load import load
from mfplots.metrics import Target
from mfplots.recipes import read_recipes
from mfplots.series import make_view
from mfplots.site import assets, cli, figures, pages, write
from mfplots.site.beside import beside
from mfplots.site.board import board, case_rows, failures, with_ceilings
from mfplots.site.case_page import case_data, repeat_lines
from mfplots.site.ceilings import Ceilings, read_ceilings
from mfplots.site.exhibits import OTHER, claims_of, counts_of, read_claims, verdict_kind
from mfplots.site.gather import case_key, gather
from mfplots.site.groups import group_data, make_groups
from mfplots.site.pairs import compare, pair_data, shared_pairs
from mfplots.summary import Question, summarise
from mfplots.traces import split
from synthetic import Made, descent, header, lines, rich_cases, write as write_cases, write_lines

ROOT = Path(__file__).parents[2]


def two_runs(folder: Path) -> Path:
    """The same cases before and after a change that makes them a tenth faster."""
    seeds = (1, 2, 3, 4)
    write_cases(folder / "before", [Made(seed=s, trace=descent(s, 1.0, 0.9)) for s in seeds])
    write_cases(folder / "after", [Made(seed=s, trace=descent(s, 0.8, 0.9)) for s in seeds])
    return folder


def shown_case(folder: Path) -> dict:
    """The page of the only case."""
    (run,), _ = gather([folder])
    return case_data(run.view.cases.iloc[0], split(run.results.trace)[0], "k", run.name)


# ---- what is read ---------------------------------------------------------------------------------

def test_files_named_in_turn_are_of_their_folders(tmp_path):
    folders = [write_cases(tmp_path / name, [Made(seed=1), Made(seed=2)]) for name in "ab"]
    files = [sorted(folder.glob("*.jsonl"))[place] for place in (0, 1) for folder in folders]
    runs, _ = gather(files)
    assert [(run.name, len(run.view.cases)) for run in runs] == [("a", 2), ("b", 2)]


def test_folders_are_found_below_and_named_by_what_tells_them_apart(tmp_path):
    for name in ("a/x", "b/x", "b/y"):
        write_cases(tmp_path / name, [Made()])
    runs, damaged = gather([tmp_path, tmp_path / "b"])
    assert [run.name for run in runs] == ["a/x", "b/x", "y"] and damaged == []


def test_a_damaged_file_is_named_and_the_others_are_shown(tmp_path):
    folder = write_cases(tmp_path / "run", [Made(seed=1), Made(seed=2)])
    broken = folder / f"{Made(seed=2).case_id}.jsonl"
    broken.write_text(broken.read_text().replace('"epoch": 1', '"epoch": oops', 1))
    runs, damaged = gather([tmp_path])
    assert len(runs[0].results.cases) == 1
    assert len(damaged) == 1 and f"run/{broken.name}: line 3: found" in damaged[0].why
    assert str(tmp_path) not in damaged[0].why


@pytest.mark.parametrize("made", [
    *([header(Made(seed=2), **change)] for change in (
        {"algorithm": {"name": "x", "params": [1]}}, {"dataset": {"name": "toy", "split": 7}}, {"environment": []},
        {"dataset": {"name": ["a"]}})),
    [header(Made(seed=2)), {"type": "footer", "status": "completed", "clocks": [1]}]])
def test_a_file_of_another_shape_is_left_out_alone(tmp_path, made):
    folder = write_cases(tmp_path / "run", [Made()])
    write_lines(folder / "bad.jsonl", made)
    (run,), (damaged,) = gather([tmp_path])
    assert list(run.results.cases["seed"]) == [1] and "run/bad.jsonl" in damaged.why
    assert len(board(make_groups([run]))) == 1


def test_no_case_is_an_error_that_names_the_folder(tmp_path):
    with pytest.raises(PlotError, match="no case in"):
        gather([tmp_path])
    with pytest.raises(PlotError, match="expected a folder of results"):
        gather([tmp_path / "nothing"])


# ---- what is said ---------------------------------------------------------------------------------

def test_the_board_has_what_the_tables_of_mfplots_have(tmp_path):
    write_cases(tmp_path / "run", rich_cases())
    groups = make_groups(gather([tmp_path])[0])
    rows = board(groups)
    group = next(g for g in groups if g.key[0] == "toy")
    assert group.target[0] == Target(0.95) and group.target[1]
    for row in (r for r in rows if r["group"] == groups.index(group)):
        member = next(m for m in group.members if m.series.label.split()[0] == row["algorithm"]
                      and str(row["factors"]) in str(m.series.facets["factors"]))
        done = member.series.finished.cases
        want = metrics.censored_median(done["answer_to_target_s"].astype(float))
        assert row["answer_to_target"] == (None if want != want else want)
    assert {row["algorithm"] for row in rows if row["status"] == "3 skipped: needs CUDA"} == {"gpusgd"}


FP16, FP32 = {"factors": 8, "precision": "fp16"}, {"factors": 8, "precision": "fp32"}


@pytest.mark.parametrize("params, labels", [
    # By their size, what is not as usual, and what their own folder tells them apart by.
    ({"one": [{**FP16, "factors": 16}, FP16], "two": [FP32], "six": [{**FP16, "cg_steps": n} for n in (3, 6)]},
     {"one": ["factors=16", "factors=8"], "two": ["factors=8 precision=fp32"],
      "six": ["factors=8 cg_steps=3", "factors=8 cg_steps=6"]}),
    ({"one": [{"factors": 8, "cg_steps": 6}], "six": [{"factors": 8, "cg_steps": 6, "reg": 0.1}], "two": [{"factors": 8}]},
     {"one": ["factors=8"], "six": ["factors=8 reg=0.1"], "two": ["factors=8 no cg_steps"]}),
    ({"one": [{"cg_steps": 6}], "six": [{"cg_steps": 6, "reg": 0.1}], "two": [{}]},
     {"one": [""], "six": ["reg=0.1"], "two": ["no cg_steps"]})])
def test_configurations_are_told_apart_over_all_folders(tmp_path, params, labels):
    for folder, own in params.items():
        write_cases(tmp_path / folder, [Made("als", each) for each in own])
    (group,) = make_groups(gather([tmp_path])[0])
    assert {folder: sorted(m.configuration for m in group.members if m.run.name == folder) for folder in params} == labels


def test_a_time_says_at_which_epoch_and_when_it_was_looked_at_before(tmp_path):
    write_cases(tmp_path / "often", [Made("als", trace=[(e, 0.1 * e, 1.0 - 0.01 * e) for e in range(11)])])
    write_cases(tmp_path / "seldom", [Made("als", trace=[(e, 0.1 * e, 1.0 - 0.01 * e) for e in (0, 10)])])
    rows = {row["run"]: row for row in board(make_groups(gather([tmp_path])[0]))}
    assert [rows["often"][key] for key in ("met_epoch", "looked_before")] == [5, 4]
    assert [rows["seldom"][key] for key in ("met_epoch", "looked_before")] == [10, 0]


def test_a_target_is_proposed_where_none_is_named(tmp_path):
    write_cases(tmp_path / "run", [Made(target=None, seed=s, trace=descent(s, 1.0, 0.9))
                                   for s in (1, 2, 3)])
    group = make_groups(gather([tmp_path])[0])[0]
    target, named = group.target
    assert not named
    best = metrics.spread([metrics.best_of(t["test_rmse"], "test_rmse")
                           for t in group.members[0].series.traces.values()]).median
    assert float(target) == pytest.approx(1.05 * best, abs=1e-3)
    assert group_data(group, 0)["target_named"] is False


def test_a_metric_of_another_folder_is_empty(tmp_path):
    goal = {"metric": "precision_10", "value": 0.1}
    plain = write_cases(tmp_path / "plain", [Made("ials", implicit=True)])
    asked = write_cases(tmp_path / "asked", [Made("ials", implicit=True, goal=goal)]) / f"{Made('ials').case_id}.jsonl"
    asked.write_text(asked.read_text().replace('"map_10"', '"precision_10"'))
    (group,) = make_groups(gather([plain, asked.parent])[0])
    precisions = [series["seeds"][0]["precision_10"] for series in group_data(group, 0)["series"]]
    assert sorted(precisions, key=str) == [[2, 1, 0.9], [None, None, None]]


def test_splits_of_one_data_set_are_groups_of_their_own(tmp_path):
    write_cases(tmp_path / "one", [Made()])
    changed = header(Made(content_hash="2" * 16))
    changed["dataset"]["split"] = {"holdout": 0.1, "validation": 0.0, "seed": 1}
    (tmp_path / "two").mkdir()
    write_lines(tmp_path / "two" / "case.jsonl", [changed])
    groups = make_groups(gather([tmp_path])[0])
    assert sorted(g.title for g in groups) == ["toy, holdout=0.1 (look-alike, synthetic)",
                                              "toy, holdout=0.2 (look-alike, synthetic)"]


def test_shares_of_a_split_are_short_where_they_still_tell_it_apart(tmp_path):
    def titles(*splits):
        folder = tmp_path / str(len(splits))
        for k, split in enumerate(splits):
            case = header(Made(content_hash=str(k) * 16, look_alike=False))
            case["dataset"]["split"] = split
            (folder / str(k)).mkdir(parents=True)
            write_lines(folder / str(k) / "case.jsonl", [case])
        return sorted(group.title for group in make_groups(gather([folder])[0]))

    first, second = {"holdout": 0.0140166, "validation": 0.0}, {"holdout": 0.25, "validation": 0.1}
    assert titles(first, second) == ["toy, holdout=0.014", "toy, holdout=0.25 validation=0.1"]
    assert titles(first, second, {"holdout": 0.0140168, "validation": 0.0}) == [
        "toy, holdout=0.0140166 validation=0.0", "toy, holdout=0.0140168 validation=0.0",
        "toy, holdout=0.25 validation=0.1"]


def test_what_was_skipped_alone_is_no_data_set(tmp_path):
    nothing = dict(status="skipped", reason="no CUDA", trace=(), hardware="cuda", content_hash="2" * 16)
    write_cases(tmp_path / "run", [Made(), Made("als", **nothing), Made("gpusgd", dataset="other", **nothing)])
    groups = make_groups(gather([tmp_path / "run"])[0])
    assert [[m.series.algorithm for m in group.members] for group in groups] == [["sgd_serial"]]
    write_cases(tmp_path / "none", [Made("als", **nothing)])
    assert len(make_groups(gather([tmp_path / "none"])[0])) == 1


def test_a_case_names_what_an_earlier_one_did_and_who_disturbed_it(tmp_path):
    case = Made(contended=["prepare: a thread waited 16.5 ms of 253.8 ms for a CPU"])
    path = write_cases(tmp_path / "run", [case]) / f"{case.case_id}.jsonl"
    plain = shown_case(tmp_path)
    assert plain["contended"] == case.contended and plain["shared"] == []
    made = lines(case)
    made[-1]["shared"] = {"load": {"split_s": 9.0}, "transfer": {"ratings_s": 0.25},
                          "prepare": {"columns_on_device_s": 0.5}}
    write_lines(path, made)
    shown = shown_case(tmp_path)
    assert shown["shared"] == [["prepare_s", "columns on device", 0.5], ["transfer_s", "ratings", 0.25]]
    own = dict(map(tuple, shown["clocks"]))
    assert shown["trace"]["answer_s"][0] == pytest.approx(0.75 + own["prepare_s"] + own["transfer_s"])


def ceilings() -> list[Ceilings]:
    return read_ceilings([ROOT / cli.MEASURED / name for name in cli.CEILINGS])


def test_tensor_cores_have_a_ceiling_of_their_own():
    known = ceilings()
    assert [c.tensor_flops_per_s for c in known] == [None, 743.5e12] and known[1].flops_per_s == 47.2e12
    row = {"gpus": 1, "bytes_per_s": 1e12, "flops_per_s": 25e12, "updates_per_s": None, "method": "als", "hardware": "cuda",
           "precision": "fp16", "factors": 64, "users": 1, "items": 1}
    shares = {(device, name): with_ceilings([{**row, "device": device, "algorithm": name}], known)[0]["flops_share"]
              for device in ("NVIDIA H100 80GB HBM3", "NVIDIA H200") for name in ("als_fused", "als")}
    assert shares[("NVIDIA H100 80GB HBM3", "als_fused")] == pytest.approx(25 / 743.5)
    assert shares[("NVIDIA H200", "als_fused")] is None, "not measured there: no share above its ceiling"
    assert shares[("NVIDIA H100 80GB HBM3", "als")] == pytest.approx(25 / 47.2)


def test_shares_are_of_what_the_machine_was_measured_to_do(tmp_path):
    known = ceilings()
    assert [c.machine for c in known] == ["NVIDIA H200", "NVIDIA H100 80GB HBM3"] and known[0].bytes_per_s == 4241.3e9
    write_cases(tmp_path / "run", [Made(hardware="cuda", gpu="NVIDIA H200"),
                                   Made("als", hardware="cuda", gpu="Another")])
    rows = with_ceilings(board(make_groups(gather([tmp_path])[0])), known)
    ours = next(row for row in rows if row["device"] == "NVIDIA H200")
    assert ours["bytes_per_s"] == 800.0 * 1000  # an epoch a second
    assert ours["bytes_share"] == ours["bytes_per_s"] / 4241.3e9
    assert ours["flops_share"] == ours["flops_per_s"] / 46.9e12 and ours["intensity"] == 0.75
    assert next(row for row in rows if row["device"] == "Another")["bytes_share"] is None


def test_updates_of_sgd_are_held_against_random_rows():
    known = ceilings()
    row = {"device": "NVIDIA H200", "gpus": 1, "bytes_per_s": 1.0, "flops_per_s": 1.0, "updates_per_s": 1e9,
           "method": "sgd", "hardware": "cuda", "precision": "fp16", "factors": 128, "users": 480189,
           "items": 17770, "algorithm": "batch_hogwild"}
    shares = [with_ceilings([{**row, **change}], known)[0]["rows_share"] for change in (
        {}, {"algorithm": "sgd_tiled"}, {"precision": "fp32"}, {"factors": 64}, {"method": "als"},
        {"users": 1})]
    assert shares == [*(1e9 / (ceiling * 1e9) for ceiling in (5.73, 12.51, 2.74)), None, None, None]


def test_shares_of_several_gpus_are_of_one_of_them(tmp_path):
    h200 = dict(algorithm="sgd_tiled", hardware="cuda", gpu="NVIDIA H200")
    write_cases(tmp_path / "run", [Made(**h200, params={"factors": 50, "devices": n}) for n in (1, 4)])
    rows = with_ceilings(board(make_groups(gather([tmp_path])[0])), ceilings())
    one, four = sorted(rows, key=lambda row: row["gpus"])
    assert (one["machine"], four["machine"]) == ("NVIDIA H200, 2 cores", "4 × NVIDIA H200, 2 cores")
    assert one["bytes_per_s"] == four["bytes_per_s"] and four["bytes_share"] == one["bytes_share"] / 4
    assert four["flops_share"] == one["flops_share"] / 4 and four["flops_per_gpu"] == four["flops_per_s"] / 4


def test_a_library_that_trains_on_the_gpu_is_no_result_of_the_cpu(tmp_path):
    made = [Made("peer:torch:sgd", {"factors": 8, "device": "cuda"}), Made("peer:cumf_sgd:sgd", {"factors": 8}),
            Made("peer:libmf:sgd", {"factors": 8}), Made("peer:implicit:als", {"factors": 8, "device": "cpu"})]
    lines_of = [header(case, environment={**header(case)["environment"], "gpu": "NVIDIA H200"}) for case in made]
    (tmp_path / "run").mkdir()
    for case, head in zip(made, lines_of):
        write_lines(tmp_path / "run" / f"{case.case_id}.jsonl", [head, *lines(case)[1:]])
    rows = {row["algorithm"]: row for row in board(make_groups(gather([tmp_path])[0]))}
    found = {name: (row["hardware"], row["machine"]) for name, row in rows.items()}
    gpu, cpu = ("cuda", "NVIDIA H200, 2 cores"), ("cpu", "Test CPU, 2 cores")
    assert found == {"peer:torch:sgd": gpu, "peer:cumf_sgd:sgd": gpu, "peer:libmf:sgd": cpu, "peer:implicit:als": cpu}
    assert rows["peer:torch:sgd"]["configuration"] == "factors=8 device=cuda"


def test_profiled_runs_are_no_results(tmp_path):
    write_cases(tmp_path / "run", [Made(seed=1)])
    changed = header(Made(seed=2), profile={"epochs": 3, "warmup": 2})
    write_lines(tmp_path / "run" / "profiled.jsonl", [changed, *lines(Made(seed=2))[1:]])
    with pytest.raises(PlotError, match="a profiled run, whose times are no results"):
        load([tmp_path / "run"])
    runs, damaged = gather([tmp_path])
    assert len(runs[0].results.cases) == 1 and "profiled" in damaged[0].why


def test_ceilings_that_lack_a_number_are_an_error(tmp_path):
    (tmp_path / "c.log").write_text("device X SMs 1\ncopy r+w 10 GB/s\n")
    with pytest.raises(PlotError, match="FP32 FMA"):
        read_ceilings([tmp_path / "c.log"])
    (tmp_path / "d.log").write_text("device X SMs 1\nFP32 FMA 2 TFLOP/s\n")
    assert read_ceilings([tmp_path / "c.log", tmp_path / "d.log"])[0].flops_per_s == 2e12, "a device in two files"
    assert read_ceilings([tmp_path / "none.log"]) == []


def test_a_case_has_its_clocks_its_file_and_a_command(tmp_path):
    case = Made(hardware="cuda")
    folder = write_cases(tmp_path / "run", [case])
    path = folder / f"{case.case_id}.jsonl"
    shown = shown_case(tmp_path)
    assert list(map(json.loads, shown["raw"].splitlines())) == lines(case)
    clocks = dict(map(tuple, shown["clocks"]))
    assert clocks["prepare_s"] == 0.2 and clocks["rest_s"] > 0
    assert sum(s or 0 for s in clocks.values()) == pytest.approx(shown["wall"])
    frame = load([folder]).trace
    assert shown["trace"]["answer_s"] == list(frame["answer_s"])
    assert shown["repeat"][0].startswith("git checkout 0123456789abcdef ")
    assert shown["repeat"][-1].startswith("# as its file says: ")
    sections = {section["title"]: dict(map(tuple, section["rows"])) for section in shown["sections"]}
    assert sections["Parameters"] == {"factors": "50"}
    assert sections["Provenance"]["case_hash"] == case.hash


def test_a_revision_that_is_none_is_no_command():
    assert repeat_lines({"git_sha": "$(rm -rf ~)", "command_line": "x"}) == ["# as its file says: x"]


def test_failures_are_cases_shared_machines_and_damaged_files(tmp_path):
    write_cases(tmp_path / "run", [
        Made(seed=1), Made(seed=2, status="diverged", reason="not finite"),
        Made(seed=3, status=None), Made(seed=4, contended=["training: others kept 1.0 CPUs busy"])])
    (tmp_path / "run" / "bad.jsonl").write_text("{}\n")
    runs, damaged = gather([tmp_path])
    rows = failures(case_rows(runs), damaged)
    assert sorted(row["kind"] for row in rows) == ["contended", "damaged", "diverged", "unfinished"]
    assert any("others kept" in row["why"] for row in rows)


# ---- work in forked processes ---------------------------------------------------------------------

def test_a_forked_process_answers_with_its_own_mfbench():
    assert metrics.row("test_rmse").less  # the process of this one has been asked
    (found,) = beside(lambda: metrics.row("ndcg@7").k)
    assert found.result() == 7
    assert program.ask("metric", metric="ndcg@9")["k"] == 9


@pytest.mark.parametrize("error", [PlotError("no room"), FileNotFoundError(2, "no such file", "x.js")])
def test_an_error_of_a_forked_process_is_that_of_the_report(error):
    def work():
        raise error
    with pytest.raises(type(error), match=re.escape(str(error))):
        beside(work)[0].result()


def test_a_forked_process_that_ends_early_is_said():
    with pytest.raises(BrokenProcessPool):
        beside(lambda: os._exit(3))[0].result()


# ---- exhibits -------------------------------------------------------------------------------------

def test_every_verdict_of_the_documents_is_a_claim():
    pages = sorted((ROOT / "docs/reproduction").glob("*.md"))
    said = sum(len(re.findall(r"^\*\*Verdict", page.read_text(), re.M)) for page in pages)
    claims = read_claims(ROOT / "docs/reproduction")
    assert len(claims) == said > 30
    assert all(c.exhibits or "experiments/" in c.other for c in claims)
    assert all(c.published or c.measured for c in claims)
    assert sum(bool(c.measured) for c in claims) >= said - 2  # of fig12 a table says all
    assert not any("<!--" in text for c in claims for text in (c.measured, c.why, c.published))


def test_a_claim_has_its_parts():
    claim = next(c for c in claims_of(ROOT / "docs/reproduction/cumf_als.md")
                 if c.claim.startswith("CG in fp32"))
    assert claim.exhibits == ["cumf_als/fig5"] and claim.verdict == "holds in part"
    assert claim.published.startswith("Titan X") and claim.why.startswith("CG gains more")
    assert verdict_kind("for 64 blocks: does not hold") == "does not hold"
    assert verdict_kind("holds") == "holds" and verdict_kind("holds for fp16") == "holds in part"
    assert verdict_kind("19 times from LU") == OTHER
    assert {verdict_kind(words) for words in ("not comparable", "not reproduced; another set", "to be measured")} == {"cannot be told"}
    found = read_claims(ROOT / "docs/reproduction")
    own = [claim.ours for claim in found]
    papers = list(dict.fromkeys(claim.paper for claim in found))
    assert papers == ["cu2rec", "NewGPUSGD", "cuMF_ALS", "cuMF_SGD", "implicit", "CCD++"] and own == sorted(own)
    assert len(counts_of(found)) == 5 and sum(counts_of(found).values()) == len(found)


def test_the_reason_of_a_verdict_is_in_sight():
    try:
        assets.find_libraries()
    except PlotError as error:
        pytest.skip(str(error))
    claim = next(c for c in claims_of(ROOT / "docs/reproduction/cumf_als.md") if c.claim.startswith("CG in fp32"))
    article = pages.papers([claim], {}, {})
    assert article.index("CG gains more") < article.index("<details>") < article.index("What was measured")


def test_a_folder_is_not_compared_with_itself(tmp_path):
    write_cases(tmp_path / "run", [Made()])
    runs, _ = gather([tmp_path])
    with pytest.raises(PlotError, match="--compare: .*run is named twice; name two folders"):
        pair_data(runs, [[tmp_path / "run", tmp_path / "run" / ".." / "run"]])


def test_a_claim_has_the_picture_of_its_exhibit(tmp_path):
    made = [Made(name, {"factors": 100, **params}, "netflix look-alike", seed=seed, trace=descent(seed, 1.0, 0.9))
            for seed in (1, 2, 3) for name, params in (("als_cpu", {}), ("fpsgd", {}))]
    write_cases(tmp_path / "h200/cumf_als/fig6", made)
    write_cases(tmp_path / "h200/cumf_als/fig6.cpu", [Made("fpsgd", {"factors": 100}, "netflix look-alike", seed=4)])
    write_cases(tmp_path / "h200/other-host/cumf_als/fig6", made[:1])
    write_cases(tmp_path / "own", [Made()])
    runs, _ = gather([tmp_path])
    found = figures.sources([tmp_path], runs)
    assert {name: [path.name for path in paths] for name, paths in found.items()} == {"cumf_als/fig6": ["fig6", "fig6.cpu"]}
    picture = figures.draw(found, tmp_path / "figures")["cumf_als/fig6"]
    assert picture.title.startswith("cuMF_ALS, figure 6") and "<svg" in (tmp_path / picture.file).read_text()
    assert f'<img src="{picture.file}"' in pages._figure(picture)
    claims = cli.claims_of(found, runs)
    assert claims and all("cumf_als/fig6" in claim.exhibits for claim in claims)


def test_the_picture_is_that_of_the_documents(tmp_path, monkeypatch):
    for place in ("old/cumf_als/table4", "old/cumf_als/table4.cpu", "new/cumf_als/table4"):
        write_cases(tmp_path / place, [Made("fpsgd", {"factors": 100}, "netflix look-alike", seed=len(place))])
    recipes = read_recipes(figures.RECIPES / "cumf_als/table4.json")
    shown = recipes[-1].file_name
    monkeypatch.setattr(figures, "DOCUMENTED", tmp_path / "pictures.json")
    figures.DOCUMENTED.write_text(json.dumps({"a.png": {"recipe": "plots/recipes/cumf_als/table4.json", "figure": shown,
                                                        "results": [str(tmp_path / "new/cumf_als/table4.jsonl.xz")]}}))
    found = figures.sources([tmp_path], gather([tmp_path])[0])
    assert found["cumf_als/table4"] == [tmp_path / "new/cumf_als/table4"]
    assert figures._documented("cumf_als/table4")[0] == shown != recipes[0].file_name
    assert figures._chosen(recipes, shown).file_name == shown
    assert figures._chosen(recipes, "").published


def test_an_exhibit_that_cannot_be_drawn_is_said(tmp_path, capsys):
    write_cases(tmp_path / "ccd/speed", [Made(status="skipped", trace=())])
    assert figures.draw(figures.sources([tmp_path], gather([tmp_path])[0]), tmp_path / "figures") == {}
    assert "no figure of ccd/speed" in capsys.readouterr().err


# ---- two runs -------------------------------------------------------------------------------------

def test_two_runs_have_the_numbers_of_mfbench_compare(tmp_path):
    runs, _ = gather([two_runs(tmp_path)])
    (first, second, shared), = shared_pairs(runs)
    assert shared == 4
    said = compare(first, second)
    assert {run.name for run in (first, second)} == {"before", "after"}
    text = subprocess.run([program.find(), "compare", first.path, second.path, "--json"],
                          capture_output=True, text=True, check=True).stdout
    row = json.loads(text)["rows"][0]
    assert said["rows"][0]["answer_time"]["ratio"] == row["answer_time"]["ratio"] != 1
    assert said["rows"][0]["answer_time"]["low"] == row["answer_time"]["low"] is not None
    assert said["rows"][0]["verdict"] == row["verdict"]


def test_copies_of_the_same_measurements_are_no_pair(tmp_path):
    for name in ("one", "copy"):
        write_cases(tmp_path / name, [Made(seed=seed) for seed in (1, 2, 3)])
    runs, _ = gather([tmp_path])
    assert shared_pairs(runs) == []


def test_only_folders_of_the_report_are_compared(tmp_path):
    runs, _ = gather([two_runs(tmp_path)])
    with pytest.raises(PlotError, match="no folder of results of this report"):
        pair_data(runs, [(runs[0].path, tmp_path / "other")])


def test_the_command_says_what_it_lacks(tmp_path):
    """The libraries or a build may be missing; nothing ends in silence."""
    write_cases(tmp_path / "results", [Made()])
    for name in ("dev", "tools", "plots"):
        (tmp_path / name).symlink_to(ROOT / name)
    environment = {key: value for key, value in os.environ.items() if key != "MFBENCH"}
    done = subprocess.run([tmp_path / "dev", "report", "results"], cwd=tmp_path, env=environment,
                          capture_output=True, text=True, timeout=300)
    assert (done.returncode == 0 and "1 case of 1 folder:" in done.stdout) or \
        (done.returncode == 1 and re.search("./dev (deps|build)", done.stderr)), (done.stdout, done.stderr)


# ---- files ----------------------------------------------------------------------------------------

def test_data_hold_no_control_character_and_nothing_that_is_no_json(tmp_path):
    write.data(tmp_path / "d.js", "d", {"a": float("nan"), "b": "x\x1b[31m\u202ey\u2028", "raw": "\x1b"})
    text = (tmp_path / "d.js").read_text(encoding="ascii")
    value = json.loads(text[len('mf.data("d",'):-len(");\n")])
    assert value == {"a": None, "b": "x\\x1b[31m\\xe2\\x80\\xaey\u2028", "raw": "\x1b"}


def test_a_folder_of_others_is_not_replaced(tmp_path):
    (tmp_path / "mine.txt").write_text("dear")
    with pytest.raises(PlotError, match="holds other files"):
        write.prepare(tmp_path)
    write.prepare(tmp_path / "site")
    (tmp_path / "site" / "old").write_text("")
    write.prepare(tmp_path / "site")
    assert not (tmp_path / "site" / "old").exists() and (tmp_path / "mine.txt").exists()


def test_keys_of_cases_are_safe_names():
    assert re.fullmatch("[0-9a-f]{12}", case_key("a", "../../x"))
    assert case_key("a", "b") != case_key("ab", "")


def test_a_missing_library_says_what_brings_it(tmp_path, monkeypatch, capsys):
    write_cases(tmp_path / "run", [Made()])
    monkeypatch.setattr(assets, "FOLDER", tmp_path)
    monkeypatch.setattr(assets.importlib.util, "find_spec", lambda name: None)
    assert cli.main([str(tmp_path / "run"), "--out", str(tmp_path / "site")]) == 1
    assert "./dev deps report installs it (plots/requirements-report.txt)" in capsys.readouterr().err
    assert not (tmp_path / "site").exists()


def test_a_module_becomes_a_script():
    script = assets.classic_script("var a=1,b=2;\nexport{a as default,b};\n", "lib")
    assert 'window.lib={"default":a,"b":b};' in script and "export" not in script
    with pytest.raises(PlotError, match="0 lists of exports"):
        assets.classic_script("var a;", "lib")


# ---- several machines -----------------------------------------------------------------------------

@pytest.mark.parametrize("other", [{"cpu": "Other CPU"}, {"cores": 8}])
def test_two_machines_are_no_pair(tmp_path, other):
    two_runs(tmp_path)
    for path in (tmp_path / "after").glob("*.jsonl"):
        first, *rest = path.read_text().splitlines(keepends=True)
        head = json.loads(first)
        head["environment"].update(other)
        path.write_text("".join([json.dumps(head) + "\n", *rest]))
    runs, _ = gather([tmp_path])
    assert pair_data(runs, []) == []
    with pytest.raises(PlotError, match="after and before are of two machines"):
        pair_data(runs, [[run.path for run in runs]])


@pytest.mark.parametrize("hosts, alike", [(("a", "a"), True), (("a", "b"), False)])
def test_a_machine_is_known_by_its_recorded_host(tmp_path, hosts, alike):
    """Processors of one name are of many hosts."""
    folder = two_runs(tmp_path)
    for name, host in zip(("before", "after"), hosts):
        for path in (folder / name).glob("*.jsonl"):
            head, *rest = path.read_text().splitlines(keepends=True)
            path.write_text("".join([head.replace('"testhost"', f'"host-{host}", "process": "process-1"'), *rest]))
    runs, _ = gather([tmp_path])
    assert bool(shared_pairs(runs)) == alike


def test_a_baseline_of_another_machine_is_none(tmp_path):
    write_cases(tmp_path / "gpu", [Made("als", hardware="cuda", gpu="Card A")])
    write_cases(tmp_path / "other", [Made(hardware="cuda", gpu="Card B")])
    write_cases(tmp_path / "cpu", [Made("hogwild")])
    view = make_view(load([tmp_path]))
    rows = {row.series.algorithm: row for row in summarise(view, Question(baseline="sgd_serial"))}
    assert rows["als"].baseline_problem == "no baseline: sgd_serial was measured on other machines"
    assert rows["hogwild"].baseline is not None  # a GPU beside the CPU of the same host
    assert math.isnan(rows["als"].equal_quality.value) and rows["als"].problem == rows["als"].baseline_problem
