"""The best point of a committed search lies inside its ranges, or stands here until it is searched again."""

from number_sources import PACKED, ROOT, packed_below, unpacked

REFERENCE = ROOT / "results" / "reference"
# (folder, algorithm, parameter). docs/tuning.md: the specs have wider ranges since.
KNOWN = {
    *(("h100/peers-implicit.gowalla", name, "learning_rate") for name in ("bpr", "bpr_cpu")),
    *(("h100/peers-implicit.lastfm-2k", name, "learning_rate") for name in ("bpr", "bpr_cpu", "bpr_tiled")),
    *((f"h100/peers-implicit{part}", "peer:implicit:bpr", "reg") for part in ("", ".gowalla")),
    ("h100/peers-implicit.lastfm-2k", "peer:implicit:bpr", "learning_rate"),
    *(("h200/published/gowalla.ccl.tune", "bpr", name) for name in ("reg", "negative_weight")),
    *((f"h100/peers-implicit{part}", "peer:libmf:bpr", "learning_rate") for part in ("", ".lastfm-2k")),
}


def test_no_best_point_lies_at_an_end_of_its_range():
    found = set()
    for packed in packed_below(REFERENCE):
        folder = packed.relative_to(REFERENCE).as_posix().removesuffix(PACKED)
        if (REFERENCE / folder / "tune").is_dir():
            found |= {(folder, head["algorithm"]["name"], edge) for head, *_ in unpacked(packed)[1].values()
                      for edge in (head.get("tuned") or {}).get("edges", [])}
    assert found == KNOWN
