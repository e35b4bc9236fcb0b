"""Rival methods behind one contract, for comparisons; most need pip install 'ssvgp[peers]'. The core imports none."""

from ssvgp.peers.contract import ClassPeer, CountPeer, Forecast, MissingPeer, Peer, Probabilities, Relevance
from ssvgp.peers.registry import PEERS, available, make

__all__ = [
    "PEERS",
    "ClassPeer",
    "CountPeer",
    "Forecast",
    "MissingPeer",
    "Peer",
    "Probabilities",
    "Relevance",
    "available",
    "make",
]
