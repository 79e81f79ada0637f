import StrictJSON

/// The document as a page for people: `GET /reference`. It is made once, at the start, needs no script and requests nothing else.
struct ReferencePage: Sendable {
    /// Nothing but the page's own style is allowed.
    static let policy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'"

    /// UTF-8 of the page.
    let bytes: [UInt8]

    /// - Parameter document: bytes of `openapi.json`.
    init(_ document: [UInt8]) throws {
        let root = try JSONDocument(document, limits: JSONLimits(depth: 40)).root
        var writer = Writer(root: root)
        writer.write()
        bytes = Array(writer.html.utf8)
    }

    private static let style = """
        :root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;margin:0 auto;max-width:60rem;padding:1rem}
        code,pre{font:14px/1.4 ui-monospace,monospace}pre{overflow-x:auto;padding:.6rem;border:1px solid #8884;border-radius:6px}
        h2{border-bottom:1px solid #8884;margin-top:2.5rem}h3{margin-top:2rem;overflow-wrap:anywhere}
        table{border-collapse:collapse;width:100%}td,th{border-bottom:1px solid #8883;padding:.3rem .6rem .3rem 0;text-align:left;
        vertical-align:top;overflow-wrap:anywhere}nav ul{columns:20rem;padding-left:1rem}small{opacity:.75}
        details{margin:.5rem 0}summary{cursor:pointer}.m{font-weight:700;text-transform:uppercase}
        """

    private struct Writer {
        let root: JSONValue
        var html = ""

        private static let methods = ["get", "put", "post", "delete", "patch"]

        /// Each operation with its method and path, in the order of the document.
        private var operations: [(method: String, path: String, operation: JSONValue)] {
            (root["paths"]?.members ?? []).flatMap { path, item in
                item.members.filter { Self.methods.contains($0.key) }.map { ($0.key, path, $0.value) }
            }
        }

        mutating func write() {
            let title = root["info"]?["title"]?.string ?? ""
            html += "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">"
            html += "<meta name=\"viewport\" content=\"width=device-width\"><title>\(Self.escaped(title)) API</title>"
            html += "<style>\(ReferencePage.style)</style><h1>\(Self.escaped(title)) API</h1>"
            paragraph(root["info"]?["description"]?.string)
            html += "<p>For programs: <a href=\"/openapi.json\">/openapi.json</a>.</p><nav><ul>"
            for (method, path, operation) in operations {
                let id = Self.escaped(operation["operationId"]?.string ?? "")
                html += "<li><a href=\"#\(id)\"><code>\(method.uppercased()) \(Self.escaped(path))</code></a></li>"
            }
            html += "<li><a href=\"#problems\">Problems</a></li></ul></nav>"
            for (method, path, operation) in operations { write(operation, method: method, path: path) }
            writeProblems()
            html += "<h2>Schemas</h2>"
            for (name, schema) in root["components"]?["schemas"]?.members ?? [] {
                html += "<h3 id=\"schema-\(Self.escaped(name))\">\(Self.escaped(name))</h3>"
                paragraph(schema["description"]?.string)
                members(of: schema)
            }
            html += "</html>\n"
        }

        private mutating func write(_ operation: JSONValue, method: String, path: String) {
            let id = Self.escaped(operation["operationId"]?.string ?? "")
            html += "<h2 id=\"\(id)\"><span class=\"m\">\(method)</span> <code>\(Self.escaped(path))</code></h2>"
            html += "<p><strong>\(Self.text(operation["summary"]?.string ?? ""))</strong></p>"
            paragraph(operation["description"]?.string)
            let scope = operation["security"]?.elements.first?.members.first?.value.elements.first?.string
            html += scope.map { "<p>Scope <code>\(Self.escaped($0))</code></p>" } ?? "<p>Needs no key.</p>"
            let parameters = (operation["parameters"]?.elements ?? []).map(resolved)
            if !parameters.isEmpty {
                html += "<table><tr><th>Parameter<th>In<th>Type<th></tr>"
                for parameter in parameters {
                    row(
                        name: parameter["name"]?.string ?? "", isRequired: parameter["required"]?.bool ?? false,
                        [Self.escaped(parameter["in"]?.string ?? ""), type(of: parameter["schema"])],
                        parameter["description"]?.string)
                }
                html += "</table>"
            }
            if let body = operation["requestBody"]?["content"]?["application/json"] {
                html += "<h3>Body</h3>"
                schema(body["schema"])
                example(body["example"])
            }
            html += "<h3>Answers</h3>"
            for (status, answer) in operation["responses"]?.members ?? [] {
                let answer = resolved(answer)
                html += "<p><code>\(Self.escaped(status))</code> \(Self.text(answer["description"]?.string ?? ""))</p>"
                guard status.hasPrefix("2") else { continue }
                for (_, media) in answer["content"]?.members ?? [] {
                    schema(media["schema"])
                    example(media["example"])
                }
            }
        }

        private mutating func writeProblems() {
            html += "<h2 id=\"problems\">Problems</h2><table><tr><th>Type<th>Status<th>Send again?<th></tr>"
            for kind in Problem.Kind.allCases {
                html += "<tr><td><code>\(kind.type)</code><td>\(kind.status)<td>\(kind.isRetryable ? "later" : "no")"
                html += "<td>\(Self.text(kind.title)). \(Self.text(kind.advice))</tr>"
            }
            html += "</table>"
        }

        /// A schema where it is used: a link to a named one, else its members.
        private mutating func schema(_ schema: JSONValue?) {
            guard let schema else { return }
            html += "<p>\(type(of: schema))</p>"
            members(of: schema["type"]?.string == "array" ? schema["items"] ?? schema : schema)
        }

        private mutating func members(of schema: JSONValue) {
            let properties = schema["properties"]?.members ?? []
            guard !properties.isEmpty else { return }
            let required = schema["required"]?.elements.compactMap(\.string) ?? []
            html += "<table><tr><th>Member<th>Type<th></tr>"
            for (name, property) in properties { members(name, property, required.contains(name)) }
            html += "</table>"
        }

        /// A member, and those below it with their path.
        private mutating func members(_ name: String, _ property: JSONValue, _ isRequired: Bool) {
            row(name: name, isRequired: isRequired, [type(of: property)], property["description"]?.string)
            let inner = property["items"] ?? property
            let required = inner["required"]?.elements.compactMap(\.string) ?? []
            for (member, below) in inner["properties"]?.members ?? [] {
                members("\(name).\(member)", below, required.contains(member))
            }
        }

        private mutating func row(name: String, isRequired: Bool, _ cells: [String], _ description: String?) {
            html += "<tr><td><code>\(Self.escaped(name))</code>\(isRequired ? "" : " <small>optional</small>")"
            for cell in cells { html += "<td>\(cell)" }
            html += "<td>\(Self.text(description ?? ""))</tr>"
        }

        private mutating func example(_ value: JSONValue?) {
            guard let value else { return }
            html += "<details><summary>Example</summary><pre>\(Self.escaped(Self.pretty(value, "")))</pre></details>"
        }

        private mutating func paragraph(_ text: String?) {
            for part in (text ?? "").split(separator: "\n\n") { html += "<p>\(Self.text(String(part)))</p>" }
        }

        private func type(of schema: JSONValue?) -> String {
            guard let schema else { return "" }
            if let name = schema["$ref"]?.string?.split(separator: "/").last.map(String.init) {
                return "<a href=\"#schema-\(Self.escaped(name))\">\(Self.escaped(name))</a>"
            }
            let choices = schema["enum"]?.elements.compactMap(\.string) ?? []
            if !choices.isEmpty {
                return choices.map { "<code>\(Self.escaped($0))</code>" }.joined(separator: ", ")
            }
            let forms = schema["oneOf"]?.elements.map { type(of: $0) } ?? []
            if !forms.isEmpty { return forms.joined(separator: " or ") }
            let names = schema["type"]?.string.map { [$0] } ?? schema["type"]?.elements.compactMap(\.string) ?? []
            if names.contains("array") { return "list of \(type(of: schema["items"]))" }
            return Self.escaped(names.joined(separator: " or "))
        }

        /// What a reference refers to.
        private func resolved(_ value: JSONValue) -> JSONValue {
            guard let reference = value["$ref"]?.string, reference.hasPrefix("#/") else { return value }
            return reference.dropFirst(2).split(separator: "/").reduce(Optional(root)) { $0?[String($1)] } ?? value
        }

        private static func pretty(_ value: JSONValue, _ indent: String) -> String {
            let deeper = indent + "  "
            switch value.kind {
            case .object:
                let members = value.members.map { "\(deeper)\"\($0.key)\": \(pretty($0.value, deeper))" }
                return members.isEmpty ? "{}" : "{\n\(members.joined(separator: ",\n"))\n\(indent)}"
            case .array:
                let elements = value.elements.map { deeper + pretty($0, deeper) }
                return elements.isEmpty ? "[]" : "[\n\(elements.joined(separator: ",\n"))\n\(indent)]"
            default: return String(decoding: value.rawBytes, as: UTF8.self)
            }
        }

        static func escaped(_ text: String) -> String {
            text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing("\"", with: "&quot;")
        }

        /// Text of the document, in which backticks mark code.
        static func text(_ text: String) -> String {
            var parts: [String] = []
            for (index, part) in text.split(separator: "`", omittingEmptySubsequences: false).enumerated() {
                parts.append(index.isMultiple(of: 2) ? escaped(String(part)) : "<code>\(escaped(String(part)))</code>")
            }
            return parts.joined()
        }
    }
}
