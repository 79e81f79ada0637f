import Foundation

extension Settings<CommonVariables> {
    /// Headers of every request to the collector, in the order of the file. Often secret, so a file and not a variable.
    func traceHeaders() throws(ConfigurationProblem) -> [(name: String, value: String)] {
        let variable = "STOREKEEPER_OTLP_HEADERS_FILE"
        guard let path = self.traceHeadersFile else { return [] }
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw .unusable(
                name: variable,
                reason: "names \(path), which cannot be read; check that it is there and that this user may read it")
        }
        var headers: [(name: String, value: String)] = []
        for line in text.split(whereSeparator: \.isNewline) {
            let parts = line.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            guard parts.count == 2, !parts[0].isEmpty else {
                throw .unusable(name: variable, reason: "names \(path), where a line is not of the form `name: value`")
            }
            headers.append((parts[0], parts[1]))
        }
        return headers
    }
}
