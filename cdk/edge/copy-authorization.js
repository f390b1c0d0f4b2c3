// A CloudFront Function (JavaScript runtime 2.0, viewer request). CloudFront puts its own signature for the function URL
// into `Authorization`, so the caller's key travels in a header that nobody else can set: whatever a caller sent there
// is dropped.
function handler(event) {
  const request = event.request;
  const authorization = request.headers.authorization;
  delete request.headers['x-skillbucket-authorization'];
  if (authorization) {
    request.headers['x-skillbucket-authorization'] = { value: authorization.value };
    delete request.headers.authorization;
  }
  return request;
}
