package import CLocalData

extension StorageNamespace {
    /// The namespace in a C struct.
    package init(_ place: UnsafePointer<ld_namespace>?) throws {
        var known = ld_namespace()
        guard BoundaryStruct.copy(place, into: &known, least: ld_namespace_least_size),
            let domain = known.domain.text, let scope = known.scope.text, let directory = known.directory.text
        else { throw StorageError(.invalidAddress, "a place at the plugin boundary is missing or is not UTF-8") }
        self.init(domain: domain, scope: scope, directory: directory.isEmpty ? nil : directory)
        try validate()
    }

    /// Lends the namespace to the other side for the duration of `body`.
    package func withBoundary(_ body: (UnsafePointer<ld_namespace>) -> ld_status) -> ld_status {
        domain.withBytes { domain in
            scope.withBytes { scope in
                (directory ?? "").withBytes { directory in
                    var place = ld_namespace(
                        size: UInt32(MemoryLayout<ld_namespace>.size), domain: domain, scope: scope,
                        directory: directory)
                    return body(&place)
                }
            }
        }
    }
}

extension StorageAddress {
    /// The address in a C struct.
    package init(_ address: UnsafePointer<ld_address>) throws {
        var known = ld_address()
        guard BoundaryStruct.copy(address, into: &known, least: ld_address_least_size), let name = known.name.text
        else {
            throw StorageError(.invalidAddress, "a name at the plugin boundary is missing or is not UTF-8")
        }
        self.init(try StorageNamespace(known.place), name: name)
        try validate()
    }

    /// Lends the address to the other side for the duration of `body`.
    package func withBoundary(_ body: (UnsafePointer<ld_address>) -> ld_status) -> ld_status {
        place.withBoundary { place in
            name.withBytes { name in
                var address = ld_address(size: UInt32(MemoryLayout<ld_address>.size), place: place, name: name)
                return body(&address)
            }
        }
    }
}

extension ValueAttributes {
    /// The attributes in a C struct; text that is not UTF-8 counts as unknown.
    ///
    /// - Throws: `corrupt` for an impossible text or size.
    package init(_ attributes: UnsafePointer<ld_attributes>) throws(StorageError) {
        self.init(checked: try ld_attributes(known: attributes))
    }

    /// The attributes in a C struct that was checked on arrival.
    package init(checked known: ld_attributes) {
        func text(_ bytes: ld_bytes) -> String? { bytes.count == 0 ? nil : bytes.text }
        self.init(
            contentType: text(known.content_type), serializer: text(known.serializer),
            versionTag: text(known.version_tag), appVersion: text(known.app_version), owner: text(known.owner),
            size: known.value_size, modified: known.modified == 0 ? nil : known.modified,
            expires: known.expires == 0 ? nil : known.expires)
    }

    /// Lends the attributes to the other side for the duration of `body`. It is not generic: a generic function would
    /// not be specialized for a caller in another module, and would take most of the time of a `set`.
    package func withBoundary(_ body: (UnsafePointer<ld_attributes>) -> ld_status) -> ld_status {
        (contentType ?? "").withBytes { contentType in
            (serializer ?? "").withBytes { serializer in
                (versionTag ?? "").withBytes { versionTag in
                    (appVersion ?? "").withBytes { appVersion in
                        (owner ?? "").withBytes { owner in
                            var attributes = ld_attributes(
                                size: UInt32(MemoryLayout<ld_attributes>.size), content_type: contentType,
                                serializer: serializer, version_tag: versionTag, app_version: appVersion, owner: owner,
                                value_size: size ?? 0, modified: modified ?? 0, expires: expires ?? 0)
                            return body(&attributes)
                        }
                    }
                }
            }
        }
    }
}

extension ld_attributes {
    /// A copy of what the other side wrote.
    ///
    /// - Throws: `corrupt` for an impossible text or size.
    package init(known pointer: UnsafePointer<ld_attributes>) throws(StorageError) {
        self.init()
        let isCopied = withUnsafeMutableBytes(of: &self) {
            BoundaryStruct.copy(pointer, to: $0, least: ld_attributes_least_size)
        }
        guard isCopied else {
            throw StorageError(
                .corrupt,
                "attributes at the plugin boundary have a struct of \(BoundaryStruct.size(pointer)) bytes; "
                    + "expected \(BoundaryStruct.sizes(least: ld_attributes_least_size))")
        }
        func check(_ text: ld_bytes) throws(StorageError) {
            guard text.count != 0, text.checked == nil || text.count > Self.longestText else { return }
            throw StorageError(
                .corrupt, "an attribute at the plugin boundary is unusable: \(text.flaw(atMost: Self.longestText))")
        }
        try check(content_type)
        try check(serializer)
        try check(version_tag)
        try check(app_version)
        try check(owner)
        guard value_size <= UInt64(Int64.max) else {
            throw StorageError(
                .corrupt, "an attribute at the plugin boundary is unusable: a size of \(value_size) bytes")
        }
    }

    /// The longest text in bytes.
    package static var longestText: Int { 64 << 10 }
}
