/// The level of each product within its subscription group, as App Store Connect shows it: 1 is the highest.
///
/// Apple sends no levels, so an operator configures them. A product without a level ranks below all that have one.
public struct ServiceLevels: Sendable, Equatable {
    private let levels: [String: Int]

    /// - Parameter levels: by product id.
    public init(_ levels: [String: Int] = [:]) { self.levels = levels }

    /// The level of a product; nil where none is configured.
    public subscript(productId: String) -> Int? { levels[productId] }
}
