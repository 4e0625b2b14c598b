"""Contributed results: the gate against submissions that were measured for real and then honestly varied or forged."""
