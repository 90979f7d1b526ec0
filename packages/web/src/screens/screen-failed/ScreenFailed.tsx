export function ScreenFailed() {
  return <h1>ScreenFailed</h1>;
}
