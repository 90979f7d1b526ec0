export function WsiViewer() {
  return <h1>WsiViewer</h1>;
}
