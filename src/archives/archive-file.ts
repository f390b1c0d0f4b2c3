/** One regular file of an archive. */
export interface ArchiveFile {
  /** Relative, with `/`, no `.` or `..` segment; unique within the archive. */
  readonly path: string;
  readonly mode: 0o644 | 0o755;
  readonly bytes: Uint8Array;
}
