/// First in, first out.
struct DraftQueue: Sendable {
    private var drafts: [Draft] = []
    private var taken = 0

    var isEmpty: Bool { taken == drafts.count }

    mutating func add(_ draft: Draft) { drafts.append(draft) }

    mutating func take() -> Draft? {
        guard !isEmpty else { return nil }
        defer {
            taken += 1
            if isEmpty {
                drafts = []
                taken = 0
            }
        }
        return drafts[taken]
    }
}
