/// A variable and what it comes to, as far as it may be shown.
public struct EffectiveVariable: Sendable, Hashable {
    /// Its name; one that ends in `*` stands for all that begin so.
    public var name: String
    /// Nothing secret; nil where it is neither set nor has a default. Of a name that ends in `*`, the names that are set.
    public var value: String?
    /// Whether nobody set it.
    public var isDefault: Bool
}

extension VariableTable {
    /// What the variables come to in an environment, in the order of the table, whether they can be read or not.
    public func effective(in environment: [String: String]) -> [EffectiveVariable] {
        let reader = EnvironmentReader(environment)
        return variables.map { variable in
            let isGiven =
                variable.name.wildcardPrefix.map { !reader.names(withPrefix: $0).isEmpty }
                ?? (reader.text(of: variable.name) != nil)
            return EffectiveVariable(name: variable.name, value: variable.shown(in: reader), isDefault: !isGiven)
        }
    }
}
