/** `content-disposition` of a download (RFC 6266): a plain name for old clients and the exact one encoded. */
export function attachment(filename: string): string {
  const plain = filename.replaceAll(/[^A-Za-z0-9._-]/g, '_');
  const exact = encodeURIComponent(filename).replaceAll(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16)}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${exact}`;
}
