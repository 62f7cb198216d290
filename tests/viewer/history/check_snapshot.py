"""Is a snapshot one that PyTorch's viewers can follow? Knows nothing of how ours are made.

    check_snapshot.py FILE...

Loads each as Python does (.pickle, .json) and checks names and types of everything; that blocks fill their segments; that
every event lies in a segment; and that going back from what is there, event by event, never meets what cannot have been.
Prints one line a file: events and blocks. Exits 1 with the first thing that is wrong.
"""

import bisect
import json
import pickle
import pickletools
import sys

FRAME = {'name': str, 'filename': str, 'line': int}
BLOCK = {'address': int, 'size': int, 'requested_size': int, 'state': str, 'frames': list}
SEGMENT = {'device': int, 'address': int, 'total_size': int, 'allocated_size': int, 'active_size': int,
           'requested_size': int, 'stream': int, 'segment_type': str, 'segment_pool_id': (tuple, list), 'is_expandable': bool,
           'frames': list, 'blocks': list}
TOP = {'segments': list, 'device_traces': list, 'allocator_settings': dict, 'external_annotations': list}
EVENT = {'action': str, 'size': int, 'stream': int, 'time_us': int}
STATES = {'active_allocated', 'active_pending_free', 'inactive'}
ACTIONS = {'alloc', 'free_requested', 'free_completed', 'segment_alloc', 'segment_free', 'oom', 'snapshot', 'peak_reset'}
# What PyTorch doesn't have and its viewers leave alone.
OWN = {'tidemark', 'time_us', 'older', 'block_size', 'addr', 'device_free', 'frames'}
MOST_IN_A_GROUP = 1000
# What the reader of PyTorch's page knows of a pickle.
OPCODES = {'PROTO', 'EMPTY_DICT', 'EMPTY_LIST', 'MARK', 'SETITEMS', 'APPENDS', 'TUPLE2', 'BINUNICODE', 'BININT', 'BININT1',
           'BININT2', 'LONG1', 'BINFLOAT', 'NEWTRUE', 'NEWFALSE', 'NONE', 'BINPUT', 'LONG_BINPUT', 'BINGET', 'LONG_BINGET',
           'STOP'}


class Wrong(Exception):
    pass


def expect(truth, words):
    if not truth:
        raise Wrong(words)


def check_fields(value, fields, what):
    expect(isinstance(value, dict), f'{what} is no dict')
    for name, kind in fields.items():
        expect(name in value, f'{what} has no {name}')
        expect(isinstance(value[name], kind) and (kind is bool or not isinstance(value[name], bool)),
               f'{what}: {name} is {value[name]!r}')
    unknown = set(value) - set(fields) - OWN
    expect(not unknown, f'{what} has {unknown}')


def check_frames(frames, checked):
    """A pickle has each stack once, and many that refer to it: `checked` are those that were looked at, by identity."""
    if id(frames) in checked:
        return
    for frame in frames:
        check_fields(frame, FRAME, 'a frame')
        expect(frame['name'] and frame['filename'], f'a frame without a name: {frame}')
    checked.add(id(frames))


class Ranges:
    """Pieces of memory that do not overlap, by address."""

    def __init__(self):
        self.starts = []
        self.sizes = {}

    def overlaps(self, address, size):
        place = bisect.bisect_left(self.starts, address)
        if place < len(self.starts) and self.starts[place] < address + size:
            return True
        return place > 0 and self.starts[place - 1] + self.sizes[self.starts[place - 1]] > address

    def contains(self, address, size):
        place = bisect.bisect_right(self.starts, address)
        return place > 0 and address + size <= self.starts[place - 1] + self.sizes[self.starts[place - 1]]

    def add(self, address, size):
        bisect.insort(self.starts, address)
        self.sizes[address] = size

    def take(self, address):
        """The size of what is there, which then isn't any more; None: nothing begins there."""
        if address in self.sizes:
            del self.starts[bisect.bisect_left(self.starts, address)]
        return self.sizes.pop(address, None)


class Device:
    """What is there, going backwards."""

    def __init__(self):
        self.checked_frames = set()
        self.segments = Ranges()
        self.held = Ranges()
        self.pending = Ranges()

    def is_used(self, address, size):
        return self.held.overlaps(address, size) or self.pending.overlaps(address, size)

    def take_back(self, event):
        action, address = event['action'], event.get('addr')
        size = event.get('block_size', event['size'])
        if action == 'alloc':
            expect(self.held.take(address) == size, f'not in use, and handed out: {event}')
        elif action == 'free_requested':
            expect(self.pending.take(address) == size, f'not pending, and its free requested: {event}')
            self.held.add(address, size)
        elif action == 'free_completed':
            expect(not self.is_used(address, size), f'in use, and its free completed: {event}')
            self.pending.add(address, size)
        elif action == 'segment_alloc':
            expect(not self.is_used(address, size), f'in use before there was the segment: {event}')
            expect(self.segments.take(address) == size, f'no segment, and allocated: {event}')
        elif action == 'segment_free':
            expect(not self.segments.overlaps(address, size), f'a segment, and freed: {event}')
            self.segments.add(address, size)
        if action in ('alloc', 'free_requested', 'free_completed'):
            expect(self.segments.contains(address, size), f'in no segment: {event}')


def check_segment(segment, device):
    check_fields(segment, SEGMENT, 'a segment')
    check_frames(segment['frames'], device.checked_frames)
    expect(segment['segment_type'] in ('small', 'large'), f'a segment is {segment["segment_type"]}')
    expect(tuple(segment['segment_pool_id']) == (0, 0), 'a segment of a private pool')
    expect(not device.segments.overlaps(segment['address'], segment['total_size']), 'two segments in one place')
    device.segments.add(segment['address'], segment['total_size'])
    at, sums = segment['address'], {'allocated_size': 0, 'active_size': 0, 'requested_size': 0}
    for block in segment['blocks']:
        check_fields(block, BLOCK, 'a block')
        check_frames(block['frames'], device.checked_frames)
        expect(block['state'] in STATES, f'a block is {block["state"]}')
        expect(block['address'] == at, f'a block at {block["address"]}, where {at} was to be')
        expect(block['requested_size'] <= block['size'], 'more requested than there is')
        at += block['size']
        if block['state'] != 'inactive':
            sums['active_size'] += block['size']
            sums['requested_size'] += block['requested_size']
            if block['state'] == 'active_allocated':
                sums['allocated_size'] += block['size']
                device.held.add(block['address'], block['size'])
            else:
                device.pending.add(block['address'], block['size'])
    expect(at == segment['address'] + segment['total_size'], 'blocks that do not fill their segment')
    for name, total in sums.items():
        expect(segment[name] == total, f'{name} is {segment[name]}, its blocks say {total}')


def check(document):
    check_fields(document, TOP, 'the snapshot')
    traces = document['device_traces']
    devices = [Device() for _ in traces]
    for segment in document['segments']:
        expect(segment['device'] < len(traces), 'a segment of a device without events')
        check_segment(segment, devices[segment['device']])
    events = 0
    for device, trace in zip(devices, traces):
        last = None
        for event in reversed(trace):
            check_fields(event, EVENT, 'an event')
            expect(event['action'] in ACTIONS, f'an event is {event["action"]}')
            expect(('device_free' if event['action'] == 'oom' else 'addr') in event, f'an event without a place: {event}')
            check_frames(event.get('frames', []), device.checked_frames)
            expect(last is None or event['time_us'] <= last, 'events that are not in order')
            last = event['time_us']
            device.take_back(event)
            events += 1
    return events, sum(len(segment['blocks']) for segment in document['segments'])


def check_pickle(data):
    """The opcodes, and how many values come between a mark and what takes them, in the innermost groups."""
    since_mark = None
    for opcode, argument, _ in pickletools.genops(data):
        expect(opcode.name in OPCODES, f'an opcode that not every viewer knows: {opcode.name}')
        if opcode.name == 'PROTO':
            expect(argument == 2, f'protocol {argument}')
        elif opcode.name == 'MARK':
            since_mark = 0
        elif opcode.name in ('APPENDS', 'SETITEMS'):
            expect(since_mark is None or since_mark <= 2 * MOST_IN_A_GROUP, f'a group of {since_mark} values')
            since_mark = None
        elif since_mark is not None:
            since_mark += 1
        if opcode.name == 'LONG1':
            expect(-2**63 <= argument < 2**63, 'an integer of more than 8 bytes')


def main(paths):
    for path in paths:
        with open(path, 'rb') as file:
            data = file.read()
        try:
            if path.endswith('.pickle'):
                check_pickle(data)
                document = pickle.loads(data)
            else:
                document = json.loads(data)
            events, blocks = check(document)
        except Wrong as wrong:
            sys.exit(f'{path}: {wrong}')
        print(f'{path}: {events} events, {blocks} blocks')


main(sys.argv[1:])
