/// A dictionary that drops the entry that was added first when it is full.
struct BoundedTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let capacity: Int
    private var values: [Key: Value] = [:]
    private var order: [Key] = []
    private var oldest = 0

    init(capacity: Int) { self.capacity = max(1, capacity) }

    /// Nil where it was never added, or dropped. Setting nil is not provided for.
    subscript(key: Key) -> Value? {
        get { values[key] }
        set {
            guard let newValue, values.updateValue(newValue, forKey: key) == nil else { return }
            if order.count < capacity { return order.append(key) }
            values[order[oldest]] = nil
            order[oldest] = key
            oldest = (oldest + 1) % capacity
        }
    }
}
