#!/usr/bin/env python3
"""A model of many shots on many processes: how they are handed out (fit/shots/shares.c) and how sums go along the tree
(fit/shots/tree_sum.c), message by message. What a shot, an addition and a message take are numbers that are given.

    bench/fit/reduction.py [--shots N] [--shot SECONDS] [--spread SIGMA] [--size DOUBLES] [--latency SECONDS]
                           [--bandwidth BYTES_PER_SECOND] [--additions PER_SECOND] [--chunks MOST] [PROCESSES ...]
    bench/fit/reduction.py --joint [--intensities N] [--render SECONDS] [--product SECONDS] [--products N] [--boxes N] ...

--joint: passes over the pixels of joint intensities, each with so many products of conjugate gradients, and what goes to the
first process at their start (fit/intensities). SECONDS are of a shot.
"""
import argparse
import heapq
import random

SHOTS_OF_CHUNK, FEWEST_CHUNKS, MOST_CHUNKS = 16, 64, 1024  # of joint intensities


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


def joint_chunks(shots):
    """As chunk_size of fit/run_shots.c."""
    return min(max(shots // SHOTS_OF_CHUNK, FEWEST_CHUNKS), MOST_CHUNKS)


def vectors_held(owner):
    """The most sums that one process has when its chunks are done: of the nodes of the tree that are its own alone."""
    held, nodes = [0] * (max(owner) + 1), list(owner)
    while len(nodes) > 1:
        above = []
        for k in range(0, len(nodes), 2):
            pair = nodes[k:k + 2]
            alike = len(set(pair)) == 1
            above.append(pair[0] if alike else -1)
            for who in pair if not alike else ():
                held[who] += who >= 0
        nodes = above
    if nodes[0] >= 0:
        held[nodes[0]] += 1
    return max(held)


def joint(o, draw):
    chunk = -(-o.shots // joint_chunks(o.shots))
    chunks = -(-o.shots // chunk)
    speed = [draw.lognormvariate(-o.spread ** 2 / 2, o.spread) for _ in range(o.shots)]
    load = [sum(speed[c * chunk:(c + 1) * chunk]) for c in range(chunks)]
    shots = [min(chunk, o.shots - c * chunk) for c in range(chunks)]
    vector, add = o.intensities + 1, 1 / o.additions
    print(f"{o.shots} shots in {chunks} chunks, vectors of {vector} doubles, {o.products} products a pass")
    print("| processes | pixels of a pass (s) | longest over mean | products of a pass (s) | of these messages (s) | messages of a "
          "product | of one process | vectors held | measurements to the first one (s) |")
    print("|---|---|---|---|---|---|---|---|---|")
    for p in o.processes:
        owner, _ = hand_out([o.shot * t for t in load], p)
        render, local = [0.0] * p, [0.0] * p
        for c, who in enumerate(owner):
            render[who] += o.render * load[c]
            local[who] += o.product * shots[c] + 2 * vector * add  # a vector is cleared and added
        done, sent, busiest = reduce(owner, local, vector, o.latency, o.bandwidth, add)
        back = max(p - 1, 0).bit_length() * (o.latency + vector * 8 / o.bandwidth)
        first = (p > 1) * (o.shots * o.latency + o.shots * o.boxes * 32 / o.bandwidth)
        print(f"| {p} | {max(render):.2f} | {max(render) * p / sum(render):.3f} | {o.products * (done + back):.2f} "
              f"| {o.products * (done + back - max(local)):.2f} | {sent} | {busiest} | {vectors_held(owner)} "
              f"| {first:.2f} |")


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
    parser.add_argument("--joint", action="store_true")
    parser.add_argument("--intensities", type=int, default=100000)
    parser.add_argument("--render", type=float, default=0.15)
    parser.add_argument("--product", type=float, default=16e-6)
    parser.add_argument("--products", type=int, default=17)
    parser.add_argument("--boxes", type=int, default=726)
    parser.add_argument("processes", type=int, nargs="*", default=[1, 10, 100, 1000, 10000])
    o = parser.parse_args()
    draw = random.Random(1)
    if o.joint:
        joint(o, draw)
        return
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
