/// The declared name that an operator probably meant.
public enum NearestName {
    /// The candidate that is nearest to a name; nil if none is similar enough.
    public static func of(_ name: String, among candidates: [String]) -> String? {
        let nearest = candidates.map { (candidate: $0, distance: distance(name, $0)) }
            .min { ($0.distance, $0.candidate) < ($1.distance, $1.candidate) }
        guard let nearest, nearest.distance <= 3 else { return nil }
        return nearest.candidate
    }

    /// Levenshtein's distance: the number of inserted, removed or replaced letters.
    static func distance(_ left: String, _ right: String) -> Int {
        let left = Array(left.utf8)
        let right = Array(right.utf8)
        var previous = Array(0...right.count)
        for (row, letter) in left.enumerated() {
            var current = [row + 1]
            for (column, other) in right.enumerated() {
                let replaced = previous[column] + (letter == other ? 0 : 1)
                current.append(min(replaced, previous[column + 1] + 1, current[column] + 1))
            }
            previous = current
        }
        return previous[right.count]
    }
}
