"""Rival methods behind one contract, for comparisons; most need pip install 'ssvgp[peers]'. The core imports none."""

from ssvgp.peers.contract import Forecast, MissingPeer, Peer, Relevance
from ssvgp.peers.registry import PEERS, available, make

__all__ = ["PEERS", "Forecast", "MissingPeer", "Peer", "Relevance", "available", "make"]
