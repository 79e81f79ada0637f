/// One page of an answer that has many.
public protocol APIPage: Sendable {
    /// Where the next page begins; with the same query it can be given to a later call.
    var position: String? { get }
    /// Whether there is a next page now.
    var hasMore: Bool { get }
}

/// The pages of one query, asked for one by one as they are wanted.
///
/// Stop whenever you like and go on later: whoever has stored `position` of the last page that was dealt with begins a new
/// query from it and misses nothing. The next page is not asked for before it is wanted. After an error the same iterator may
/// be asked again: it asks for the same page.
public struct APIPages<Page: APIPage>: AsyncSequence, Sendable {
    let start: String?
    let fetch: @Sendable (String?) async throws -> Page

    /// Asks for a page each time.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var position: String?
        fileprivate var isAtEnd = false
        fileprivate let fetch: @Sendable (String?) async throws -> Page

        /// The next page; the first may be empty.
        ///
        /// - Throws: `APIError`; `.unreadable` where Apple says that there is more, but gives no new position, which would
        ///   go on for ever.
        public mutating func next() async throws -> Page? {
            guard !isAtEnd else { return nil }
            let page = try await fetch(position)
            isAtEnd = !page.hasMore
            if page.hasMore {
                guard let next = page.position, next != position else {
                    isAtEnd = true
                    throw APIError.unreadable(
                        "the App Store says that there are more pages and not where; begin the query anew")
                }
                position = next
            }
            return page
        }
    }

    /// Begins at the position that the query was made with.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(position: start, fetch: fetch) }
}
