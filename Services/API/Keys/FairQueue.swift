import struct Foundation.UUID

/// Work that waits, taken in turns by key: a key with a thousand requests delays another's by one.
struct FairQueue<Element> {
    private var lines: [UUID: Line<Element>] = [:]
    /// Keys with work, in the order of their turns.
    private var turns = Line<UUID>()
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    mutating func append(_ element: Element, of key: UUID) {
        if lines[key] == nil { turns.append(key) }
        lines[key, default: Line()].append(element)
        count += 1
    }

    mutating func popFirst() -> Element? { popFirst { _ in true }?.element }

    /// The next work of a key that may have a turn; the other keys miss one.
    mutating func popFirst(where isAllowed: (UUID) -> Bool) -> (key: UUID, element: Element)? {
        for _ in 0..<lines.count {
            guard let key = turns.popFirst() else { return nil }
            guard isAllowed(key), let element = lines[key]?.popFirst() else {
                turns.append(key)
                continue
            }
            if lines[key]?.isEmpty ?? true { lines[key] = nil } else { turns.append(key) }
            count -= 1
            return (key, element)
        }
        return nil
    }

    /// At most so many, in the order of ``popFirst()``.
    mutating func popFirst(_ most: Int) -> [Element] {
        var elements: [Element] = []
        while elements.count < most, let element = popFirst() { elements.append(element) }
        return elements
    }

    /// First in, first out.
    private struct Line<Item> {
        private var items: [Item] = []
        private var front = 0

        var isEmpty: Bool { front == items.count }

        mutating func append(_ item: Item) { items.append(item) }

        mutating func popFirst() -> Item? {
            guard front < items.count else { return nil }
            defer {
                front += 1
                if front > 64, front * 2 > items.count {
                    items.removeFirst(front)
                    front = 0
                }
            }
            return items[front]
        }
    }
}

/// The key on whose behalf a task runs; nil for the service's own work.
enum ServedKey {
    @TaskLocal static var id: UUID?
}
