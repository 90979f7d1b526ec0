import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { expect, it } from 'vitest';
import { SidebarSection } from './SidebarSection.tsx';

function Section() {
  const [isOpen, setOpen] = useState(true);
  return (
    <SidebarSection id="facts" title="Selected Image" isOpen={isOpen} onToggle={setOpen}>
      <p>name</p>
    </SidebarSection>
  );
}

it('a section below the catalogue is closed and opened by its heading', async () => {
  render(<Section />);
  const heading = screen.getByRole('button', { name: 'Selected Image', expanded: true });
  await userEvent.click(heading);
  expect(screen.queryByText('name')).toBeNull();
  await userEvent.click(screen.getByRole('button', { name: 'Selected Image', expanded: false }));
  screen.getByText('name');
});
