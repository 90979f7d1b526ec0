import { act, renderHook } from '@testing-library/react';
import type { ReactNode } from 'react';
import { MemoryRouter } from 'react-router';
import { describe, expect, it } from 'vitest';
import { useViewed } from './use-viewed.ts';

const field = { x: 51_234, y: 43_210, zoom: 0.5, rotation: 0, isMirrored: false };

/** Renders the hook at the URL of the viewer that shows slide A. */
function renderViewed() {
  const wrapper = ({ children }: { readonly children: ReactNode }) => (
    <MemoryRouter initialEntries={['/wsi-viewer?image=A&x=50000&y=40000&zoom=0.5']}>{children}</MemoryRouter>
  );
  return renderHook(() => useViewed(), { wrapper }).result;
}

describe('useViewed (slides and fields in the URL of the viewer)', () => {
  it('writes the field of the shown slide into the URL when setField is called', () => {
    const result = renderViewed();
    act(() => result.current.setField('first', 'A', field));
    expect(result.current.viewed.first).toEqual({ imageId: 'A', field, results: null });
  });

  it('ignores a call of setField with the field of the previous slide when the user has just opened another slide', () => {
    const result = renderViewed();
    act(() => {
      result.current.open('first', 'B');
      result.current.setField('first', 'A', field); // the delayed field of slide A, before React has closed it
    });
    expect(result.current.viewed.first).toEqual({ imageId: 'B', field: null, results: null });
  });
});
