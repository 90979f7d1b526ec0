import { cleanup, render } from '@testing-library/react';
import { expect, it } from 'vitest';
import { emptyDrawing } from './overlay/drawing.ts';
import { ToolHint } from './ToolHint.tsx';

it('the tool hint tells how to begin and how to finish an area', () => {
  const hintAfter = (corners: number) => {
    const placedPoints = Array.from({ length: corners }, (_, place) => ({ x: place, y: place * place }));
    const { container } = render(<ToolHint drawing={{ ...emptyDrawing, tool: 'area', placedPoints }} />);
    const hint = container.textContent;
    cleanup();
    return hint;
  };
  expect(hintAfter(0)).toBe('Click the corners, or draw around the area');
  expect(hintAfter(2)).toBe('Click the corners, or draw around the area');
  expect(hintAfter(3)).toBe('Click the first point or double-click to finish');
});
