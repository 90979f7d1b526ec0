import { cleanup, render } from '@testing-library/react';
import { expect, it } from 'vitest';
import { emptyDrawing } from './overlay/drawing.ts';
import { ToolHint } from './ToolHint.tsx';

it('ToolHint says how to draw an area, and how to finish it once the area has three corners', () => {
  const hintAfter = (cornerCount: number) => {
    const placedPoints = Array.from({ length: cornerCount }, (_, index) => ({ x: index, y: index * index }));
    const { container } = render(<ToolHint drawing={{ ...emptyDrawing, tool: 'area', placedPoints }} />);
    const hint = container.textContent;
    cleanup();
    return hint;
  };
  expect(hintAfter(0)).toBe('Click the corners, or draw around the area');
  expect(hintAfter(2)).toBe('Click the corners, or draw around the area');
  expect(hintAfter(3)).toBe('Click the first point or double-click to finish');
});
