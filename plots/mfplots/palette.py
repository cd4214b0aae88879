"""The colour and marker of every algorithm and published system, in all figures of the project.

Colours are the palette of Okabe and Ito (https://jfly.uni-koeln.de/color/) without its yellow, which is too faint on
white, with wine, indigo and olive of Paul Tol's (https://personal.sron.nl/~pault/). If two names have one colour, their
markers differ. Existing rows never change: readers learn them."""

from __future__ import annotations

import hashlib
import re

BLACK, GREY = "#000000", "#6E6E6E"
VERMILLION, BLUE, GREEN = "#D55E00", "#0072B2", "#009E73"
PURPLE, ORANGE, SKY = "#CC79A7", "#E69F00", "#56B4E9"
WINE, INDIGO, OLIVE = "#882255", "#332288", "#999933"
COLOURS = (VERMILLION, BLUE, GREEN, PURPLE, ORANGE, SKY, WINE, INDIGO, OLIVE, GREY)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<")
PUBLISHED_MARKERS = ("*", "p", "h", "d", ">", "8", "H", "1")

ALGORITHMS = {
    "sgd_serial": (BLACK, "o"), "hogwild": (SKY, "s"), "fpsgd": (ORANGE, "^"),
    "batch_hogwild": (GREEN, "D"), "wavefront": (PURPLE, "v"), "sgd_tiled": (BLUE, "P"),
    "als": (VERMILLION, "s"), "als_fused": (WINE, "o"), "als_cpu": (GREY, "<"),
    "ebgtg": (VERMILLION, "^"), "ebltg": (BLUE, "v"), "sgd_atomic": (GREEN, "X"),
    "gpusgd": (INDIGO, "s"), "newgpusgd": (VERMILLION, "<"), "ccd++": (GREEN, "s"), "ccd++_cpu": (SKY, "^"),
    "ials": (BLUE, "s"), "ials_cpu": (GREY, "o"), "ials_fused": (WINE, "P"),
    "ials_pp": (ORANGE, "v"), "ials_pp_cpu": (SKY, "D"),
    "bpr_cpu": (GREEN, "o"), "bpr": (VERMILLION, "D"), "bpr_tiled": (BLUE, "D"),
    "svdpp": (BLUE, "X"), "svdpp_cpu": (SKY, "X"), "bpmf": (WINE, "D"), "bpmf_cpu": (WINE, "X"),
    "popular": (OLIVE, "X"), "bias": (OLIVE, "v"),
    "item_knn": (OLIVE, "<"), "user_knn": (OLIVE, ">"), "rp3beta": (PURPLE, "D"), "ease": (BLACK, "^"), "ease_cpu": (BLACK, "d"),
    "item_knn_device": (SKY, "<"), "user_knn_device": (SKY, ">"), "rp3beta_device": (PURPLE, "X"),
    "ruler": (OLIVE, "o"), "ruler_device": (OLIVE, "s"),
    # Of other people: apart from ours that they meet, in colour and marker.
    "peer:cmfrec:als": (PURPLE, "h"), "peer:cmfrec:implicit_als": (PURPLE, "H"),
    "peer:cu2rec:sgd": (VERMILLION, "*"), "peer:cumf_als:als": (VERMILLION, "h"),
    "peer:cumf_sgd:sgd": (GREEN, "d"), "peer:implicit:als": (VERMILLION, "8"),
    "peer:implicit:bpr": (ORANGE, "8"), "peer:implicit:lmf": (SKY, "8"), "peer:libmf:bpr": (GREEN, "h"),
    "peer:lenskit:biased_mf": (VERMILLION, ">"), "peer:lenskit:implicit_mf": (INDIGO, ">"),
    "peer:libmf:sgd": (OLIVE, "d"), "peer:myfm:gibbs": (WINE, "*"),
    "peer:spark:als": (GREEN, "8"), "peer:spark:implicit_als": (GREEN, "*"),
    "peer:surprise:svd": (INDIGO, "p"), "peer:surprise:svdpp": (BLUE, "p"), "peer:torch:sgd": (SKY, "*"),
}
# Shades of the same hue for a dark page, on which these colours would drown.
ON_DARK = {BLACK: "#F2F2F2", BLUE: "#2486CC", INDIGO: "#9A8CF0", WINE: "#D65A92", GREY: "#A6A6A6"}
# By the name before its sizes: "cu2rec f=50" is cu2rec.
SYSTEMS = {
    "cu2rec": (VERMILLION, "*"), "cu2rec sequential": (BLACK, "*"), "Surprise SVD": (BLUE, "p"),
    "cuMF_ALS": (VERMILLION, "h"), "GPU-ALS": (GREEN, "h"), "BIDMach ALS kernel": (PURPLE, "h"),
    "LIBMF": (ORANGE, "d"), "NOMAD": (BLUE, ">"), "cuMF_SGD": (GREEN, "d"),
    "implicit GPU": (BLUE, "8"), "implicit CPU": (GREY, "8"), "implicit": (GREY, "H"),
    "QMF": (PURPLE, "p"), "Spark MLlib": (GREEN, "p"), "CCD++": (GREEN, "*"),
    "V100 over TITAN Z": (VERMILLION, "d"), "LightGCN": (GREY, "h"),
}
_SIZES = re.compile(r"\s+(?:(?:f|k)=\S+|fp\d+|\d+\s+(?:cores|machines|epochs)|"
                    r"\((?:CPU|GPU)\)|implicit$).*$")


def of_algorithm(name: str) -> tuple[str, str]:
    """Colour and marker of its row; of a name without one, a pair that its letters decide."""
    return ALGORITHMS.get(name) or _by_letters(name, MARKERS)


def on_dark(colour: str) -> str:
    """The colour that stands for it on a dark page."""
    return ON_DARK.get(colour, colour)


def system_name(system: str) -> str:
    """'LIBMF 40 cores' as 'LIBMF': the part common to its rows of all sizes and machines."""
    return _SIZES.sub("", system)


def of_system(system: str) -> tuple[str, str]:
    name = system_name(system)
    return SYSTEMS.get(name) or _by_letters(name, PUBLISHED_MARKERS)


def _by_letters(name: str, markers: tuple[str, ...]) -> tuple[str, str]:
    number = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")
    return COLOURS[number % len(COLOURS)], markers[number // len(COLOURS) % len(markers)]
