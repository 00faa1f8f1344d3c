#!/usr/bin/env python3
"""A model of many shots on many processes: how they are handed out (fit/shots/shares.c) and how sums go along the tree
(fit/shots/tree_sum.c), message by message. What a shot, an addition and a message take are numbers that are given.

    bench/fit/reduction.py [--shots N] [--shot SECONDS] [--spread SIGMA] [--size DOUBLES] [--latency SECONDS]
                           [--bandwidth BYTES_PER_SECOND] [--additions PER_SECOND] [--chunks MOST] [PROCESSES ...]
"""
import argparse
import heapq
import random


def run_length(begin, chunks, processes):
    return max(1, (chunks - begin) // (4 * processes))


def hand_out(times, processes):
    """Each process takes the next run of chunks when it has done one: owners, and when each process is done."""
    free = [(0.0, p) for p in range(processes)]
    owner, begin = [0] * len(times), 0
    end = [0.0] * processes
    while begin < len(times):
        now, p = heapq.heappop(free)
        stop = begin + run_length(begin, len(times), processes)
        for c in range(begin, stop):
            owner[c] = p
        end[p] = now + sum(times[begin:stop])
        heapq.heappush(free, (end[p], p))
        begin = stop
    return owner, end


def reduce(owner, start, vector, latency, bandwidth, addition):
    """When rank 0 has the total, vectors sent, and the most that one process sends or receives. start: of each process."""
    clock, sent, busiest = list(start), 0, [0] * len(start)
    nodes, level = list(owner), 0  # owner of each node of a level
    send = latency + vector * 8 / bandwidth
    while len(nodes) > 1:
        above = []
        for k in range(0, len(nodes), 2):
            left = nodes[k]
            above.append(left)
            if k + 1 == len(nodes):
                continue
            right = nodes[k + 1]
            if left == right:  # added where it was made, while shots are worked on
                continue
            clock[left] = max(clock[left], clock[right]) + send + vector * addition
            clock[right] = max(clock[right], clock[left] - vector * addition)
            sent += 1
            busiest[left] += 1
            busiest[right] += 1
        nodes, level = above, level + 1
    total = clock[nodes[0]] + (send if nodes[0] else 0)
    return total, sent, max(busiest)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shots", type=int, default=100000)
    parser.add_argument("--shot", type=float, default=0.06)
    parser.add_argument("--spread", type=float, default=0.5)
    parser.add_argument("--size", type=int, default=58)
    parser.add_argument("--latency", type=float, default=5e-6)
    parser.add_argument("--bandwidth", type=float, default=5e9)
    parser.add_argument("--additions", type=float, default=1e9)
    parser.add_argument("--chunks", type=int, default=65536)
    parser.add_argument("processes", type=int, nargs="*", default=[1, 10, 100, 1000, 10000])
    o = parser.parse_args()
    draw = random.Random(1)
    chunk = -(-o.shots // o.chunks)
    chunks = -(-o.shots // chunk)
    times = [sum(o.shot * draw.lognormvariate(-o.spread ** 2 / 2, o.spread) for _ in range(min(chunk, o.shots - c * chunk)))
             for c in range(chunks)]
    print(f"{o.shots} shots in {chunks} chunks, {sum(times):.0f} s of work, vectors of {o.size} doubles")
    print("| processes | first pass (s) | longest over mean | equal shares | a later pass (s) | reduction (s) | messages | of one process |")
    print("|---|---|---|---|---|---|---|---|")
    for p in o.processes:
        owner, end = hand_out(times, p)
        mean = sum(times) / p
        share = [0.0] * p
        for c, t in enumerate(times):
            share[c * p // chunks] += t
        done, sent, busiest = reduce(owner, end, o.size, o.latency, o.bandwidth, 1 / o.additions)
        alone, _, _ = reduce(owner, [0.0] * p, o.size, o.latency, o.bandwidth, 1 / o.additions)
        # the total comes back by a broadcast
        steps = max(p - 1, 0).bit_length()
        back = steps * (o.latency + o.size * 8 / o.bandwidth)
        print(f"| {p} | {max(end):.2f} | {max(end) / mean:.3f} | {max(share) / mean:.3f} | {done + back:.2f} | {alone + back:.6f} "
              f"| {sent} | {busiest} |")


if __name__ == "__main__":
    main()
