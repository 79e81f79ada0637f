/// One page of an answer that has many.
public protocol APIPage: Sendable {
    /// Where the next page begins; with the same query it can be given to a later call.
    var position: String? { get }
    /// Whether there is a next page now.
    var hasMore: Bool { get }
    /// Whether nothing is on it.
    var isEmpty: Bool { get }
}

extension APIPage {
    /// Whether the page says that there is more, and not where: to go on asking would never end, and to stop would take a
    /// part for the whole.
    /// - Parameter position: where this page was asked for.
    public func losesTheRest(after position: String?) -> Bool {
        hasMore && (self.position == nil || self.position == position)
    }
}

extension APIError {
    /// Behind a page that loses the rest.
    public static let lostPosition = APIError.unreadable(
        "the App Store says that there are more pages and not where; restart the query")

    /// Behind a run of pages without anything on them, whose position changes all the same.
    public static let endlessPages = APIError.unreadable(
        "the App Store says that there are more pages, and the last \(emptyPagesLimit) were empty; restart the query")

    /// Empty pages in a row that are still taken for a query's.
    static let emptyPagesLimit = 100
}

/// The pages of one query, asked for one by one as they are wanted.
///
/// Can be stopped and resumed: a caller that has stored `position` of the last processed page begins a new
/// query from it and misses nothing. The next page is not asked for before it is wanted. After an error the same iterator may
/// be asked again: it asks for the same page.
public struct APIPages<Page: APIPage>: AsyncSequence, Sendable {
    let start: String?
    let fetch: @Sendable (String?) async throws -> Page

    /// Asks for a page each time.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var position: String?
        fileprivate var end: End?
        private var emptyPages = 0
        private var positions: Set<String> = []
        private let fetch: @Sendable (String?) async throws -> Page

        fileprivate init(position: String?, fetch: @escaping @Sendable (String?) async throws -> Page) {
            self.position = position
            self.fetch = fetch
        }

        /// The next page; the first may be empty.
        ///
        /// - Throws: `APIError`; `.unreadable` behind a page that says that there is more, but not where: to go on asking
        ///   from the same position would never end. Likewise behind a run of empty pages, and where a position comes
        ///   again.
        public mutating func next() async throws -> Page? {
            switch end {
            case .reached: return nil
            case .lost:
                throw APIError.lostPosition
            case .endless:
                throw APIError.endlessPages
            case nil: break
            }
            let page = try await fetch(position)
            if !page.hasMore {
                end = .reached
            } else if page.losesTheRest(after: position) {
                end = .lost
            } else if let next = page.position, !positions.insert(next).inserted {
                // The query was there before: it would go round in a circle.
                end = .lost
            }
            emptyPages = page.isEmpty ? emptyPages + 1 : 0
            if end == nil, emptyPages >= APIError.emptyPagesLimit { end = .endless }
            position = page.position
            return page
        }

        /// Why no further page is asked for.
        fileprivate enum End {
            case reached
            case lost
            case endless
        }
    }

    /// Begins at the position that the query was made with.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(position: start, fetch: fetch) }
}
